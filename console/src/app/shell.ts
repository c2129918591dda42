/** What the inline script of the page (`console/vite/shell/shell.js`) offers to the files that it loads. */
export interface Shell {
  /** The first thing that this page shows. */
  start: 'sign-in' | 'app'
  /** Loads the files of the application and of its first page. Resolves when the styles are there. */
  loadApp: (path: string) => Promise<void>
  /** Shows the frame again while the application starts. */
  showApp: () => void
  /** A file could not be loaded: says so, and reloads the page when the server responds. */
  retry: () => void
  /** Returns the response to a request that was sent before any file was loaded, once. */
  takeEarly: (address: string) => Promise<Response> | undefined
}

export const shell = (globalThis as unknown as { portcullisShell: Shell }).portcullisShell
