import { existsSync } from 'node:fs'
import { consoleHeader } from '@portcullis/contract'
import { type Browser, chromium, type Page } from 'playwright-core'
import { adminPassword } from './harness.ts'

const chromiumPath = process.env.PORTCULLIS_CHROMIUM ?? '/usr/bin/chromium'
const shellPath = '/usr/bin/chromium-headless-shell'

/** Why no browser can be started; null when one can. */
export const whyNoChromium = existsSync(chromiumPath) ? null : `no Chromium at ${chromiumPath} (PORTCULLIS_CHROMIUM)`

export interface LaunchOptions {
  /** False where the signal is handled already: else the browser ends its process by it. */
  handleSIGINT?: boolean
  /** The browser as people have it, windows and all, also where there is Chromium's headless shell. */
  isWhole?: boolean
}

/** Chromium's headless shell when it is there: the same engine for less than half the processor time; else Chromium. */
export const launchBrowser = ({ isWhole = false, ...options }: LaunchOptions = {}): Promise<Browser> =>
  chromium.launch({
    ...options,
    executablePath:
      !isWhole && process.env.PORTCULLIS_CHROMIUM === undefined && existsSync(shellPath) ? shellPath : chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  })

const pages = new Set<Page>()

/** What the windows that are still open show: their addresses and the beginning of their text. */
export const shownByWindows = (): Promise<string[]> =>
  Promise.all(
    [...pages].map(async (page) => {
      const text = await page.locator('body').innerText({ timeout: 1_000 }).catch(String)
      return `${page.url()}\n${text.slice(0, 3_000)}`
    }),
  )

/** A window that remembers whatever went wrong in it: errors, refusals of the content security policy, dialogs. */
export const openWindow = async (browser: Browser, url: string, width: number, height: number) => {
  const context = await browser.newContext({ viewport: { width, height }, baseURL: url })
  const page: Page = await context.newPage()
  page.setDefaultTimeout(15_000)
  pages.add(page)
  page.on('close', () => pages.delete(page))
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (message.type() === 'error' && !/the server responded with a status of 4/.test(message.text()))
      wrong.push(`console: ${message.text()}`)
  })
  page.on('requestfailed', (request) => {
    // Leaving a page ends its streams.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED')
      wrong.push(`${request.failure()?.errorText} ${request.url()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url()))
      wrong.push(`foreign request: ${request.url()}`)
  })
  return { page, context, wrong }
}

/**
 * A window of somebody who signed in before, where the console is at `path`. For tests that do not ask how people sign in:
 * doing it by hand in each window is a third of the work of some.
 */
export const openSignedIn = async (
  browser: Browser,
  url: string,
  path: string,
  { width = 1440, height = 900, username = 'admin', password = adminPassword } = {},
) => {
  const window = await openWindow(browser, url, width, height)
  // As the console does it: the session is a cookie, and the mark says that there is one.
  const answer = await window.context.request.post('/prime/webui/Auth/LocalLogin', {
    data: { username, password },
    headers: { [consoleHeader]: '1' },
  })
  if (!answer.ok()) throw new Error(`sign-in of ${username}: ${answer.status()} ${await answer.text()}`)
  await window.page.addInitScript("localStorage.setItem('portcullis-has-session', '1')")
  await window.page.goto(path)
  await window.page.getByRole('navigation', { name: 'Main' }).waitFor()
  return window
}
