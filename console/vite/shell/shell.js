// Inlined in the page: runs before the first paint and before any other file has loaded.
;(() => {
  const read = (key) => {
    try {
      return localStorage.getItem(key)
    } catch {
      // Storage may be disabled; then the system's color scheme applies, and only the server knows of a session.
      return undefined
    }
  }
  const root = document.documentElement
  const chosen = read('portcullis-color-scheme')
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  const files = __FILES__
  const mark = read('portcullis-has-session')
  const isSignedIn = mark === '1' || mark === undefined || location.hash === __SIGNED_IN__
  const start = isSignedIn || __OPEN_PAGES__.includes(location.pathname) ? 'app' : 'sign-in'
  // Without a session, the page has no frame.
  if (!isSignedIn) root.setAttribute('data-shell', 'plain')

  const preloaded = new Set()
  const preload = (wanted) => {
    for (const file of wanted) {
      const link = document.createElement('link')
      link.rel = 'modulepreload'
      link.crossOrigin = ''
      link.href = file
      preloaded.add(link)
      document.head.append(link)
    }
  }
  let styles
  const loadStyles = () =>
    files.style === ''
      ? Promise.resolve()
      : new Promise((resolve, reject) => {
          const link = document.createElement('link')
          link.rel = 'stylesheet'
          link.href = files.style
          link.onload = resolve
          link.onerror = reject
          document.head.append(link)
        })
  const loadApp = (path) => {
    if (styles === undefined) {
      // The styles are the first file of the application, which has priority over its page.
      styles = loadStyles()
      preload(files.app)
      styles.then(
        () => preload(files.pages[path.split('/')[1] ?? ''] ?? []),
        () => {},
      )
    }
    return styles
  }

  const early = new Map()
  if (start === 'app') loadApp(location.pathname).catch(() => {})
  else {
    preload(files.signIn)
    // The page needs this response before it is usable.
    const answer = fetch(__PROVIDERS__, { headers: { accept: 'application/json' }, cache: 'no-store' })
    answer.catch(() => {})
    early.set(__PROVIDERS__, answer)
  }

  let isWaiting = false
  let frame
  const words = () => document.getElementById('shell-words')
  const isAsset = (name) => name.includes('/assets/')
  const showProgress = () => {
    const line = words()
    if (line === null || isWaiting) return
    const wanted = document.querySelectorAll('[src^="/assets/"],[href^="/assets/"]').length
    const loaded = performance.getEntriesByType('resource').filter(({ name }) => isAsset(name)).length
    const what = root.dataset.shell === 'plain' ? 'Loading the sign-in page…' : 'Loading the console…'
    line.textContent = loaded > 0 && loaded < wanted ? `${what} ${loaded} of ${wanted} files` : what
  }
  new MutationObserver((_changes, observer) => {
    if (words() === null) return
    observer.disconnect()
    frame = document.querySelector('.shell').cloneNode(true)
    showProgress()
  }).observe(root, { childList: true, subtree: true })
  new PerformanceObserver(showProgress).observe({ type: 'resource' })
  const reloadLater = () =>
    setTimeout(() => {
      fetch('/healthz', { cache: 'no-store' }).then(
        (answer) => (answer.ok ? location.reload() : reloadLater()),
        () => reloadLater(),
      )
    }, 2_000)
  const retry = () => {
    const line = words()
    if (isWaiting || line === null) return
    isWaiting = true
    line.textContent = "Can't reach the server. Retrying…"
    reloadLater()
  }
  // A stylesheet or script failed to load, so only this script can show an error.
  addEventListener(
    'error',
    ({ target }) => {
      const isFile = target instanceof HTMLScriptElement || target instanceof HTMLLinkElement
      // The application reports a page that cannot be loaded.
      if (isFile && !preloaded.has(target)) retry()
    },
    true,
  )

  globalThis.portcullisShell = {
    start,
    loadApp,
    retry,
    showApp: () => {
      root.removeAttribute('data-shell')
      document.getElementById('root').replaceChildren(frame)
      showProgress()
    },
    takeEarly: (address) => {
      const answer = early.get(address)
      early.delete(address)
      return answer
    },
  }
})()
