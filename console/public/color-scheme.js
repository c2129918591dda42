// Runs before the first paint, so that a dark-scheme user never sees a white flash. A file of its own because the
// content security policy allows no inline script.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem('portcullis-color-scheme')
  } catch {
    // Storage may be switched off; the system's scheme is used then.
  }
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
