import { shell } from './shell.ts'

/** Starts with the sign-in page, which is small, or with the application. */
const start = async () => {
  if (shell.start === 'sign-in') return (await import('./sign-in.tsx')).startSignIn()
  await shell.loadApp(window.location.pathname)
  await import('./main.tsx')
}

start().catch(shell.retry)
