import { storageStick, unless } from '@portcullis/domain/testing'
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, type RunningServer, remove, startServer } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { serverDir } from './prepared.ts'

/** What browsers and bundlers say about a missing server, and what code says about itself. */
const rawText = /failed to fetch|load failed|preload|dynamically|chunk|TypeError|Cannot read|undefined|https?:\/\//i

describe('the console without its server', unless(whyNoChromium), () => {
  let server: RunningServer
  let browser: Browser
  let end: (() => Promise<void>) | null = null
  const dir = serverDir()

  beforeAll(async () => {
    server = await startServer(dir)
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
    remove(dir)
  })

  const sections = (page: Page) => page.getByRole('navigation', { name: 'Main' })
  const signIn = async (page: Page): Promise<void> => {
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await sections(page).waitFor()
  }
  /** Opens a page and marks its document, so that a reload is noticed. */
  const open = async (path: string) => {
    const window = await openSignedIn(browser, server.url, path)
    await window.page.evaluate('globalThis.isSameDocument = true')
    return window
  }
  const isSameDocument = (page: Page) => page.evaluate<boolean>('globalThis.isSameDocument === true')
  const shown = (page: Page) => page.locator('body').innerText()
  /** Stops the server. The returned function starts it again at the same address. */
  const outage = async () => {
    const { port } = new URL(server.url)
    await server.stop()
    const restart = async () => {
      if (end === null) return
      end = null
      server = await startServer(dir, { PORTCULLIS_PORT: port })
    }
    end = restart
    return restart
  }
  // A test that failed during its outage must not fail the others.
  afterEach(() => end?.())
  const recovery = { timeout: 40_000 }

  it('draws its shell from the first response, before any other file has loaded', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    let release: () => void = () => {}
    const hold = async () => {
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      // The first script runs only when all files that it imports are there.
      await page.route('**/assets/{index,signIn}-*.js', async (route) => {
        await held
        await route.continue()
      })
    }
    await hold()
    await page.goto('/agents', { waitUntil: 'commit' })
    await page.getByText('Loading the sign-in page…').waitFor()
    await expect
      .poll(() => page.evaluate("performance.getEntriesByName('first-contentful-paint').length"), recovery)
      .toBeGreaterThan(0)
    // The page sends its requests together with the one for its file. The application loads later.
    await expect.poll(() => asked.some((path) => path.endsWith('/Providers')), recovery).toBe(true)
    expect(asked.filter((path) => /vendor|\.css$/.test(path))).toEqual([])
    // At 400 kbit/s, 25 kB take half a second.
    const size = await page.evaluate<number>("performance.getEntriesByType('navigation')[0].encodedBodySize")
    expect(size).toBeGreaterThan(0)
    expect(size).toBeLessThan(8_000)
    release()
    await signIn(page)
    await page.unrouteAll()
    await hold()
    await page.goto('/agents', { waitUntil: 'commit' })
    await page.getByText('Portcullis', { exact: true }).waitFor()
    await page.getByText('Loading the console…').waitFor()
    release()
    await sections(page).waitFor()
    expect(await page.getByText('Loading the console…').count()).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('keeps its shell, reports that the server is unreachable, and resumes when it is back', async () => {
    const { page, context } = await open('/agents')
    await page.getByText('Add your first host').waitFor()
    const restart = await outage()
    // The code of this page has not been loaded yet.
    await sections(page).getByRole('link', { name: 'Rollouts' }).click()
    await page.getByText("Can't reach the server").first().waitFor()
    await page
      .getByText(/Retrying/)
      .first()
      .waitFor()
    await sections(page).getByRole('link', { name: 'Insights' }).click()
    await page.getByText("Can't reach the server").first().waitFor()
    expect(await shown(page)).not.toMatch(rawText)
    await sections(page).waitFor()
    await restart()
    await page.getByRole('heading', { name: 'Insights' }).waitFor()
    await page
      .getByText("Can't reach the server")
      .first()
      .waitFor({ state: 'detached', ...recovery })
    await context.close()
  })

  it('keeps what was typed when saving fails, and saves it when the server is back', async () => {
    const { page, context } = await open('/policy/settings')
    const contact = page.getByRole('textbox', { name: 'Contact', exact: true })
    await contact.fill('Help desk, 4711')
    const restart = await outage()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').getByText("Can't reach the server").waitFor()
    await page.getByText('Trying again until the server responds.').waitFor()
    expect(await contact.inputValue()).toBe('Help desk, 4711')
    expect(await shown(page)).not.toMatch(rawText)
    await restart()
    await expect
      .poll(async () => (await server.get<{ settings: { contact: string } }>('policy')).settings.contact, recovery)
      .toBe('Help desk, 4711')
    await page.getByRole('alert').waitFor({ state: 'detached', ...recovery })
    expect(await contact.inputValue()).toBe('Help desk, 4711')
    expect(await isSameDocument(page)).toBe(true)
    await context.close()
  })

  it('does not send a change again that would take effect twice, and says when the server is back', async () => {
    const { page, context } = await open('/settings/tags')
    await page.getByLabel('New tag').fill('warehouse')
    const restart = await outage()
    await page.getByRole('button', { name: 'Add tag' }).click()
    await page.getByText("Can't reach the server").first().waitFor()
    expect(await page.getByLabel('New tag').inputValue()).toBe('warehouse')
    await restart()
    await page.getByText('The server responds again').waitFor(recovery)
    expect(await page.getByLabel('New tag').inputValue()).toBe('warehouse')
    expect(await server.get<unknown[]>('generalconfig/gethashtags')).toEqual([])
    await page.getByRole('button', { name: 'Add tag' }).click()
    await page.getByText('Tag added.').waitFor()
    expect(await isSameDocument(page)).toBe(true)
    await context.close()
  })

  it('keeps the rows of a list, says how old they are, and loads the others when the server is back', async () => {
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const devices = Array.from({ length: 250 }, (_, n) =>
      storageStick({
        portPath: `1-${1 + (n % 7)}.${1 + (Math.trunc(n / 7) % 7)}.${1 + Math.trunc(n / 49)}`,
        serial: `s${n}`,
      }),
    )
    await enrolAgent(at, { token: await server.enrolmentToken(), facts: { hostname: 'stockroom' }, devices })
    const { page, context } = await open('/peripherals')
    const grid = page.getByRole('grid')
    // Rows without a name are placeholders.
    await grid
      .getByRole('row', { name: /stockroom/ })
      .nth(5)
      .waitFor()
    const restart = await outage()
    await page.getByText(/Can't reach the server. Last updated .* ago. Retrying…/).waitFor()
    expect(await grid.getByRole('row').count()).toBeGreaterThan(5)
    await grid.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
    await page.getByText('Trying again until the server responds.').waitFor()
    expect(await shown(page)).not.toMatch(rawText)
    await restart()
    await page.getByText('Trying again until the server responds.').waitFor({ state: 'detached', ...recovery })
    await grid
      .getByRole('row', { name: /stockroom/ })
      .last()
      .waitFor()
    // The live stream is back too.
    await page.getByText(/Last updated/).waitFor({ state: 'detached', ...recovery })
    await enrolAgent({ ...at, address: server.url } as TestApp, {
      token: await server.enrolmentToken(),
      facts: { hostname: 'gatehouse' },
      devices: [storageStick({ portPath: '1-1', serial: 'new' })],
    })
    await page.getByText('251').first().waitFor()
    expect(await isSameDocument(page)).toBe(true)
    await context.close()
  })

  it('loads the newer console of an upgrade on the next navigation, and keeps typed text until then', async () => {
    const { page, context } = await open('/policy/settings')
    await page.getByRole('textbox', { name: 'Contact', exact: true }).fill('Not saved yet')
    // The server of the next release serves a page with other files.
    await page.route(
      (url) => url.pathname === '/',
      (route) =>
        route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/assets/index-next.js">' }),
    )
    const restart = await outage()
    await restart()
    await page.getByText('Portcullis was updated.').waitFor(recovery)
    expect(await page.getByRole('textbox', { name: 'Contact', exact: true }).inputValue()).toBe('Not saved yet')
    await sections(page).getByRole('link', { name: 'Events' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Events' }).waitFor()
    expect(await isSameDocument(page)).toBe(true)
    await sections(page).getByRole('link', { name: 'Insights' }).click()
    await page.getByRole('heading', { name: 'Insights' }).waitFor()
    await expect.poll(() => isSameDocument(page)).toBe(false)
    await context.close()
  })

  it('does not reload for a missing file while typed text would be lost', async () => {
    const { page, context } = await openSignedIn(browser, server.url, '/')
    const missing = (route: Route) => route.fulfill({ status: 404, body: '' })
    await page.route('**/assets/KeysHelp*', missing)
    await page.goto('/policy/settings')
    await page.evaluate('globalThis.isSameDocument = true')
    const contact = page.getByRole('textbox', { name: 'Contact', exact: true })
    await contact.fill('Not saved yet')
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
    await page.getByText('Portcullis was updated.').waitFor()
    expect(await contact.inputValue()).toBe('Not saved yet')
    expect(await isSameDocument(page)).toBe(true)
    expect(await shown(page)).not.toMatch(rawText)
    await page.unrouteAll()
    // The browser asks whether to leave the unsaved text.
    page.removeAllListeners('dialog')
    page.on('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Reload now' }).click()
    await expect.poll(() => isSameDocument(page)).toBe(false)
    await page.getByText('Portcullis was updated.').waitFor({ state: 'detached' })
    await context.close()
  })

  it('shows no text of the browser for a broken response or a defect', async () => {
    const { page, context } = await open('/')
    const pages: [string, string, (route: Route) => Promise<void>][] = [
      ['**/prime/webui/policy/rules**', '/policy', (route) => route.abort('connectionreset')],
      // A response without its members breaks the component that shows it.
      ['**/prime/webui/reports/schedules**', '/reports', (route) => route.fulfill({ json: { data: [null] } })],
      ['**/prime/webui/generalconfig/**', '/settings/mail', (route) => route.fulfill({ body: '<html>proxy' })],
    ]
    for (const [address, path, answer] of pages) {
      await page.route(address, answer)
      await page.goto(path)
      await page.getByRole('alert').first().waitFor()
      expect(await shown(page), path).not.toMatch(rawText)
      await page.unrouteAll()
    }
    await context.close()
  })

  it('reports that a file of the initial load failed, and reloads the page', async () => {
    const { page, context } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/agents')
    await signIn(page)
    await page.route('**/assets/**', (route) => route.abort())
    await page.route('**/healthz', (route) => route.abort())
    await page.goto('/agents', { waitUntil: 'commit' })
    await page.getByText("Can't reach the server. Retrying…").waitFor()
    await page.getByText('Portcullis', { exact: true }).waitFor()
    await page.unrouteAll()
    await sections(page).waitFor()
    await context.close()
  })

  it('keeps its shell when only the API is unreachable at startup', async () => {
    const { page, context } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/agents')
    await signIn(page)
    await page.route('**/prime/**', (route) => route.abort())
    await page.goto('/agents')
    await page.getByText("Can't reach the server").waitFor()
    await sections(page).waitFor()
    await page.unrouteAll()
    await page.getByText('stockroom').waitFor()
    await context.close()
  })
})
