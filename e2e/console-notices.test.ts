import type { NoticeCounts } from '@portcullis/contract'
import { hostileTexts, plainKeyboard, rubberDucky } from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { chromiumPath, launchBrowser, openWindow } from './browser.ts'
import { adminPassword, type RunningServer, remove, startServer, temporaryDir } from './harness.ts'

if (chromiumPath === undefined) console.log('SKIPPED: no chromium (PORTCULLIS_CHROMIUM or /usr/bin/chromium)')

describe.skipIf(chromiumPath === undefined)('notices', () => {
  let server: RunningServer
  let browser: Browser
  let host: TestAgent
  let page: Page
  let wrong: string[]
  const dir = temporaryDir()
  const keyboard = plainKeyboard({ portPath: '1-1' })

  beforeAll(async () => {
    server = await startServer(dir, {
      PORTCULLIS_ADMIN_PASSWORD: adminPassword,
      PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8',
    })
    browser = await launchBrowser()
    const token = await server.enrolmentToken()
    // All that the builder takes of a test app, when it has a token.
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    host = await enrolAgent(at, { token, devices: [keyboard], facts: { hostname: 'front-desk' } })
    ;({ page, wrong } = await openWindow(browser, server.url, 1440, 900))
    await page.goto('/notices')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
  })
  afterEach(() => expect(wrong.splice(0)).toEqual([]))
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    remove(dir)
  })

  const bell = (unread: number) =>
    page.getByRole('button', { name: unread === 0 ? 'Notices, none unread' : `Notices, ${unread} unread` })
  const rail = () => page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Notices' })
  const rows = () => page.getByRole('grid', { name: 'Risk notices' }).getByRole('row')
  const row = (text: string) => rows().filter({ hasText: text })
  const drawer = () => page.getByRole('complementary', { name: 'Notice' })
  const counts = () => server.get<NoticeCounts>('systemNotification')

  it('say what would make one, while there is none', async () => {
    await page.getByText('Nothing needs you').waitFor()
    await bell(0).waitFor()
    expect(await rail().innerText()).toBe('Notices')
    await bell(0).click()
    const panel = page.getByRole('region', { name: 'Newest notices' })
    await panel.getByText(/Attack tools, blocked devices/).waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
  })

  it('come to bell, rail and inbox without a reload, say why, and are pinned and dismissed', async () => {
    await page.evaluate('window.stillTheSame = true')
    await host.plug(rubberDucky({ portPath: '1-2', product: hostileTexts.html }))
    await bell(1).waitFor()
    expect(await rail().innerText()).toMatch(/^Notices\s*1$/)
    await row('front-desk').waitFor()
    await row(hostileTexts.html).getByRole('img', { name: 'not read' }).waitFor()
    expect(await page.evaluate('window.stillTheSame')).toBe(true)
    expect(await counts()).toMatchObject({ riskNotifications: 1, riskUnread: 1 })

    await bell(1).click()
    const panel = page.getByRole('region', { name: 'Newest notices' })
    await panel.getByText(hostileTexts.html).click()
    await panel.waitFor({ state: 'detached' })
    await page.waitForURL(/\/notices\?open=\d+$/)
    const why = drawer().getByRole('region', { name: 'Why' })
    await why.getByText(/on the list of attack tools/).waitFor()
    await drawer()
      .getByRole('region', { name: 'Events' })
      .getByRole('listitem')
      .first()
      .getByText('front-desk')
      .waitFor()
    await drawer()
      .getByRole('region', { name: 'Told' })
      .getByText(/Nobody by mail or webhook/)
      .waitFor()
    expect(await drawer().getByRole('link', { name: 'Open the host' }).getAttribute('href')).toBe(
      `/agents/${host.agentId}`,
    )

    await page.keyboard.press('p')
    await drawer().getByRole('button', { name: 'Unpin' }).waitFor()
    await page.keyboard.press('Escape')
    await drawer().waitFor({ state: 'detached' })
    await row('front-desk').getByRole('button', { name: 'Unpin' }).waitFor()

    await page.keyboard.press('r')
    await bell(0).waitFor()
    await row('front-desk').getByRole('img', { name: 'not read' }).waitFor({ state: 'detached' })
    expect(await counts()).toMatchObject({ riskNotifications: 1, riskUnread: 0 })

    await page.keyboard.press('j')
    await page.keyboard.press('d')
    await page.getByText('Nothing needs you').waitFor()
    expect(await counts()).toMatchObject({ total: 0, riskNotifications: 0 })
    expect(await page.locator('img[src="x"]').count()).toBe(0)
  })
})
