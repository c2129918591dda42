import { hostileStrings, hostileTexts, plainKeyboard, unless } from '@portcullis/domain/testing'
import type { AssetConsumer } from '@portcullis/features/contract.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, until } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { startNats, type TestNats, whyNoNats } from '../server/test/nats.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const reason = whyNoChromium ?? whyNoNats()

describe('the asset stream in the console', unless(reason), () => {
  let server: ConsoleServer
  let browser: Browser
  let nats: TestNats
  let host: TestAgent
  let page: Page
  let wrong: string[]

  beforeAll(async () => {
    nats = await startNats()
    server = await startConsoleServer({ natsUrl: nats.url })
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    host = await enrolAgent(at, {
      token,
      devices: [plainKeyboard({ portPath: '1-1' }), hostileStrings('html', { portPath: '1-2' })],
      facts: { hostname: 'front-desk', address: '10.0.0.1' },
    })
    ;({ page, wrong } = await openWindow(browser, server.url, 1440, 900))
    await page.goto('/settings/assets')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
  })
  afterEach(() => expect(wrong.splice(0)).toEqual([]))
  afterAll(async () => {
    await server?.stop()
    await nats?.stop()
  })

  const consumer = (name: string) =>
    page.getByRole('table', { name: 'Consumers' }).getByRole('row').filter({ hasText: name })
  const messages = () => page.getByRole('table', { name: 'Newest messages' })
  const dialog = () => page.getByRole('dialog')

  it('shows live messages, consumers, and one message in full', async () => {
    await consumer('NATS JetStream at 127.0.0.1').getByText('up to date').waitFor()
    await messages().getByRole('row').filter({ hasText: 'front-desk' }).waitFor()
    await host.plug(plainKeyboard({ portPath: '1-3', product: 'Seen live' }))
    // The page updates without a reload.
    await messages()
      .getByRole('row')
      .filter({ hasText: 'Seen live' })
      .getByRole('button', { name: 'View JSON' })
      .click()
    await page.getByRole('region', { name: 'Message' }).getByText('"portPath": "1-3"').waitFor()
    expect(new URL(page.url()).searchParams.get('message')).toMatch(/^\d+$/)
    await page.getByText('curl -sSN').waitFor()
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    expect(await page.getByText(hostileTexts.html).count()).toBeGreaterThan(0)
  })

  it('shows that NATS is unreachable, and that it is back', async () => {
    await nats.kill()
    await host.unplug('1-3')
    await consumer('NATS JetStream').getByText('Unreachable:').waitFor()
    await nats.start()
    await consumer('NATS JetStream').getByText('up to date').waitFor({ timeout: 60_000 })
    await consumer('NATS JetStream').getByText('Connected').waitFor()
  })

  it('publishes all messages again, and shows the progress', async () => {
    await page.getByRole('button', { name: 'Publish all again…' }).click()
    await dialog().getByRole('button', { name: 'Publish all assets again', exact: true }).click()
    await page
      .getByRole('region', { name: 'Replay' })
      .getByText(/was completed.*4 of 4 assets/)
      .waitFor()
    await messages().getByRole('row').filter({ hasText: 'Replay completed' }).waitFor()
  })

  it('publishes previous locations and shows their number first', async () => {
    const button = page.getByRole('button', { name: /^Publish previous locations/ })
    expect(await button.isDisabled()).toBe(true)
    Object.assign(host.facts, { address: '10.0.0.2' })
    await host.inventory()
    await page.getByRole('button', { name: 'Publish previous locations (1)…' }).click()
    await dialog().getByRole('button', { name: 'Publish previous locations', exact: true }).click()
    await messages().getByRole('row').filter({ hasText: 'Previous location' }).waitFor()
    await page.getByRole('button', { name: 'Publish previous locations (0)…' }).waitFor()
  })

  it('deletes a consumer that no longer exists', async () => {
    const answer = await server.request('/prime/webui/assetproducer/stream?after=0&follow=false&consumer=old%20cmdb', {
      headers: { authorization: `Bearer ${await server.signIn()}` },
    })
    expect(answer.status).toBe(200)
    await page.reload()
    await consumer('old cmdb').getByRole('button', { name: 'Remove…' }).click()
    await dialog().getByRole('button', { name: 'Remove consumer', exact: true }).click()
    await consumer('old cmdb').waitFor({ state: 'detached' })
    const { value } = await until('it is gone', async () => {
      const { data } = await server.get<{ data: AssetConsumer[] }>('assetproducer/consumers')
      return data.some(({ name }) => name === 'old cmdb') ? undefined : data
    })
    expect(value.map(({ kind }) => kind)).toContain('nats')
  })

  it('fits narrow windows, light and dark', async () => {
    const shots = process.env.ASSETS_SHOTS
    for (const scheme of ['light', 'dark'] as const)
      for (const width of [1440, 1024]) {
        await page.emulateMedia({ colorScheme: scheme })
        await page.setViewportSize({ width, height: 900 })
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
        expect(overflow, `${scheme} ${width}`).toBeLessThanOrEqual(0)
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/assets-${scheme}-${width}.png`, fullPage: true })
      }
  })
})
