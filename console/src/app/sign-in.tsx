// Must be first: it declares the order of the layers.
import './global.css'
import cardStyles from '@portcullis/features/identity/console/shared/BrandCard.module.css?inline'
import fieldStyles from '@portcullis/features/identity/console/sign-in/fields.module.css?inline'
import { SignIn, safeNext } from '@portcullis/features/identity/console/sign-in/SignIn.tsx'
import layoutStyles from '@portcullis/platform/console/ui/layout/layout.module.css?inline'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import globalStyles from './global.css?inline'
import { api, session } from './session.ts'
import { shell } from './shell.ts'
import { signInFor } from './sign-in-address.ts'

/** The page-wide styles of the component kit. */
const kitStyles = '*,*::before,*::after{box-sizing:border-box}body{font-family:var(--pc-font)}'

/** Adds the styles of this page, because those of the application load later. */
const addStyles = () => {
  const style = document.createElement('style')
  style.nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
  style.textContent = [globalStyles, kitStyles, layoutStyles, cardStyles, fieldStyles].join('\n')
  document.head.append(style)
  return style
}

/** Shows the sign-in page, loads the application while the person types, and starts it after the sign-in. */
export const startSignIn = () => {
  const address = signInFor(window.location.pathname, window.location.search)
  if (address !== null) window.history.replaceState(null, '', address)
  const search = Object.fromEntries(new URLSearchParams(window.location.search))
  const next = safeNext(search.next)
  const style = addStyles()
  const root = createRoot(document.getElementById('root')!)
  const loadApp = () => void shell.loadApp(new URL(next, window.location.origin).pathname).catch(() => undefined)
  const startApp = async () => {
    root.unmount()
    style.remove()
    shell.showApp()
    window.history.replaceState(null, '', next)
    await shell.loadApp(next)
    await import('./main.tsx')
  }
  const stop = session.watch(() => {
    if (session.state().phase !== 'in') return
    stop()
    startApp().catch(shell.retry)
  })
  void session.start()
  root.render(
    <StrictMode>
      <SignIn services={{ api, session }} search={search} onUsable={loadApp} />
    </StrictMode>,
  )
}
