import { existsSync } from 'node:fs'
import { consoleHeader } from '@portcullis/features/contract.ts'
import { type Browser, chromium, type Page } from 'playwright-core'
import { adminPassword } from './harness.ts'

const chromiumPath = process.env.PORTCULLIS_CHROMIUM ?? '/usr/bin/chromium'
const shellPath = '/usr/bin/chromium-headless-shell'

/** Reason why no browser can be started, or null. */
export const whyNoChromium = existsSync(chromiumPath) ? null : `no Chromium at ${chromiumPath} (PORTCULLIS_CHROMIUM)`

export interface LaunchOptions {
  /** False if the test handles the signal. Otherwise the browser ends the process. */
  handleSIGINT?: boolean
  /** Uses full Chromium even if its headless shell is installed. */
  isWhole?: boolean
}

/** Starts Chromium's headless shell if installed, because it takes less than half the CPU time, or else Chromium. */
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

let shared: Promise<Browser> | undefined

/** Returns the browser of this process, which all test files share. It ends with the process. */
export const sharedBrowser = (): Promise<Browser> => {
  shared ??= launchBrowser()
  return shared
}

/** Closes the windows that a test file left open in the shared browser. */
export const closeWindows = async (): Promise<void> => {
  for (const context of (await shared)?.contexts() ?? []) await context.close()
}

const pages = new Set<Page>()

/** Returns the addresses and the first text of all open windows. */
export const shownByWindows = (): Promise<string[]> =>
  Promise.all(
    [...pages].map(async (page) => {
      const text = await page.locator('body').innerText({ timeout: 1_000 }).catch(String)
      return `${page.url()}\n${text.slice(0, 3_000)}`
    }),
  )

/** Opens a window that records errors, violations of the content security policy and dialogs. */
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
    // Navigation ends the streams of a page.
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
 * Opens a window with an existing session at `path`. For tests that do not cover the sign-in, which takes a third of the
 * time of some tests.
 */
export const openSignedIn = async (
  browser: Browser,
  url: string,
  path: string,
  { width = 1440, height = 900, username = 'admin', password = adminPassword } = {},
) => {
  const window = await openWindow(browser, url, width, height)
  // As in the console, the session is a cookie, and a mark says that it exists.
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
