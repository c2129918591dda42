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
  const isSignedIn = read('portcullis-has-session') === '1'
  if (!isSignedIn) root.setAttribute('data-shell', 'plain')

  // Otherwise the page would be requested only after the application has loaded and run.
  const pages = __PAGES__
  const [, first = ''] = location.pathname.split('/')
  const preloaded = new Set()
  const preload = () => {
    for (const file of (isSignedIn ? pages[first] : pages['sign-in']) ?? []) {
      const link = document.createElement('link')
      link.rel = 'modulepreload'
      link.crossOrigin = ''
      link.href = file
      preloaded.add(link)
      document.head.append(link)
    }
  }
  // The styles are the first file of the application, which has priority.
  const afterStyles = ({ target }) => {
    if (!(target instanceof HTMLLinkElement) || target.rel !== 'stylesheet') return
    document.removeEventListener('load', afterStyles, true)
    preload()
  }
  // The window does not get these events.
  document.addEventListener('load', afterStyles, true)

  let isWaiting = false
  const isAsset = (name) => name.includes('/assets/')
  const showProgress = () => {
    const words = document.getElementById('shell-words')
    if (words === null || isWaiting) return
    const wanted = document.querySelectorAll('[src^="/assets/"],[href^="/assets/"]').length
    const loaded = performance.getEntriesByType('resource').filter(({ name }) => isAsset(name)).length
    const what = isSignedIn ? 'Loading the console…' : 'Loading the sign-in page…'
    words.textContent = loaded > 0 && loaded < wanted ? `${what} ${loaded} of ${wanted} files` : what
  }
  new MutationObserver((_changes, observer) => {
    if (document.getElementById('shell-words') === null) return
    observer.disconnect()
    showProgress()
  }).observe(root, { childList: true, subtree: true })
  new PerformanceObserver(showProgress).observe({ type: 'resource' })
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
      // The application reports a page that cannot be loaded.
      if (!isFile || preloaded.has(target) || isWaiting || words === null) return
      isWaiting = true
      words.textContent = "Can't reach the server. Retrying…"
      retry()
    },
    true,
  )
})()
