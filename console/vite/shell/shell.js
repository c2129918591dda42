// Inline in the page: it runs before the first paint and before any other file has arrived.
;(() => {
  const read = (key) => {
    try {
      return localStorage.getItem(key)
    } catch {
      // Storage may be switched off; the system's scheme is used then.
      return null
    }
  }
  const root = document.documentElement
  const chosen = read('portcullis-color-scheme')
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  // Nobody is signed in: the sign-in page has no frame.
  if (read('portcullis-has-session') !== '1') root.setAttribute('data-shell', 'plain')

  let isWaiting = false
  const retry = () =>
    setTimeout(() => {
      fetch('/healthz', { cache: 'no-store' }).then(
        (answer) => (answer.ok ? location.reload() : retry()),
        () => retry(),
      )
    }, 2_000)
  // A stylesheet or a script did not arrive: without them nothing else on this page can say so.
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
