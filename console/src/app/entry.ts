import { shell } from './shell.ts'

/** Starts the sign-in page or the application. */
const start = async () => {
  if (shell.start === 'sign-in') return (await import('./sign-in.tsx')).startSignIn()
  await shell.loadApp(window.location.pathname)
  await import('./main.tsx')
}

start().catch(shell.retry)
