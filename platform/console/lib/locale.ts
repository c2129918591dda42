/** The pseudo-locale shows hard-coded and overflowing text: its letters are accented and its texts 40 % longer. */
const pseudo = 'xx'
const key = 'portcullis-lang'

/** Reads the language from `?lang=`. The tab keeps it until another language is given. */
const chosen = (): string | null => {
  if (typeof window === 'undefined') return null
  const named = new URLSearchParams(window.location.search).get('lang')
  if (named !== null) window.sessionStorage.setItem(key, named)
  return window.sessionStorage.getItem(key)
}

/** The language of plural forms and numbers. */
export const language = 'en'
export const isPseudo = chosen() === pseudo
