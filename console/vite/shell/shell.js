// Inlined in the page: runs before the first paint and before any other file has loaded.
;(() => {
  const read = (key) => {
    try {
      return localStorage.getItem(key)
    } catch {
      // Storage may be disabled; then the system's color scheme applies.
      return null
    }
  }
  const root = document.documentElement
  const chosen = read('portcullis-color-scheme')
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  // Without a session the page is the sign-in page, which has no frame.
  if (read('portcullis-has-session') !== '1') root.setAttribute('data-shell', 'plain')

  let isWaiting = false
  const retry = () =>
    setTimeout(() => {
      fetch('/healthz', { cache: 'no-store' }).then(
        (answer) => (answer.ok ? location.reload() : retry()),
        () => retry(),
      )
    }, 2_000)
  // A stylesheet or script failed to load, so only this script can show an error.
  addEventListener(
    'error',
    ({ target }) => {
      const isFile = target instanceof HTMLScriptElement || target instanceof HTMLLinkElement
      const words = document.getElementById('shell-words')
      if (!isFile || isWaiting || words === null) return
      isWaiting = true
      words.textContent = "Can't reach the server. Retrying…"
      retry()
    },
    true,
  )
})()
