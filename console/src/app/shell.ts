/** The interface of the inline script (`console/vite/shell/shell.js`) for the files that it loads. */
export interface Shell {
  /** What this page shows first. */
  start: 'sign-in' | 'app'
  /** Loads the files of the application and of its first page. Resolves when the styles have loaded. */
  loadApp: (path: string) => Promise<void>
  /** Shows the frame again while the application starts. */
  showApp: () => void
  /** Reports that a file failed to load, and reloads the page when the server responds. */
  retry: () => void
  /** Returns the response to a request that the inline script sent early. Each response is returned once. */
  takeEarly: (address: string) => Promise<Response> | undefined
}

export const shell = (globalThis as unknown as { portcullisShell: Shell }).portcullisShell
