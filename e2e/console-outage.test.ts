import { unless } from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser, openWindow, whyNoChromium } from './browser.ts'
import { adminPassword, type RunningServer, remove, startServer } from './harness.ts'
import { serverDir } from './prepared.ts'

describe('the console without its server', unless(whyNoChromium), () => {
  let server: RunningServer
  let browser: Browser
  const dir = serverDir()

  beforeAll(async () => {
    server = await startServer(dir)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
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

  it('draws its shell from the first response, before any other file has loaded', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/agents')
    await signIn(page)
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/assets/**', async (route) => {
      await held
      await route.continue()
    })
    await page.goto('/agents', { waitUntil: 'commit' })
    await page.getByText('Portcullis', { exact: true }).waitFor()
    await page.getByText('Loading…').waitFor()
    await page.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0")
    release()
    await sections(page).waitFor()
    expect(await page.getByText('Loading…').count()).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('keeps its shell, reports that the server is unreachable, and resumes when it is back', async () => {
    const { page, context } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/agents')
    await signIn(page)
    await page.getByText('Add your first host').waitFor()
    const { port } = new URL(server.url)
    await server.stop()
    // The code of this page has not been loaded yet.
    await sections(page).getByRole('link', { name: 'Rollouts' }).click()
    await page.getByText("Can't reach the server").first().waitFor()
    await page
      .getByText(/Retrying/)
      .first()
      .waitFor()
    await sections(page).getByRole('link', { name: 'Insights' }).click()
    await page.getByText("Can't reach the server").first().waitFor()
    expect(await page.locator('body').innerText()).not.toMatch(/preload|dynamically|http:\/\//)
    await sections(page).waitFor()
    server = await startServer(dir, { PORTCULLIS_PORT: port })
    await page.getByRole('heading', { name: 'Insights' }).waitFor()
    await page.getByText("Can't reach the server").first().waitFor({ state: 'detached', timeout: 40_000 })
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
    await page.getByText('Add your first host').waitFor()
    await context.close()
  })
})
