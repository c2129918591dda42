/** The pseudo-locale: accented letters and 40 % longer, to show text that is hard-coded or that does not fit. */
const pseudo = 'xx'
const key = 'portcullis-lang'

/** Reads the language from `?lang=`; a tab keeps it until it names another one. */
const chosen = (): string | null => {
  if (typeof window === 'undefined') return null
  const named = new URLSearchParams(window.location.search).get('lang')
  if (named !== null) window.sessionStorage.setItem(key, named)
  return window.sessionStorage.getItem(key)
}

/** The language of plural forms and numbers. */
export const language = 'en'
export const isPseudo = chosen() === pseudo
