import { createServer } from 'node:net'
import { unless } from '@portcullis/domain/testing'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('fields of the settings', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  /** A port of this machine on which nothing listens. */
  let closed = 0

  beforeAll(async () => {
    const listener = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => listener.once('listening', resolve))
    closed = (listener.address() as { port: number }).port
    await new Promise((resolve) => listener.close(resolve))
    server = await startConsoleServer()
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string) => openSignedIn(browser, server.url, path, { width: 1440, height: 700 })
  const items = (prefix: string) => server.get<Record<string, string>>(`generalconfig/GetConfigItemsByPrefix/${prefix}`)
  /** Expects that the field has the focus, is on the screen, and shows the message. */
  const expectNamed = async (page: Page, field: Locator, message: RegExp) => {
    await field.and(page.locator(':focus')).waitFor()
    const box = await field.boundingBox()
    expect(box?.y).toBeGreaterThan(40)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(640)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    const described = ((await field.getAttribute('aria-describedby')) ?? '').split(' ').filter((id) => id !== '')
    const texts = await Promise.all(described.map((id) => page.locator(`[id="${id}"]`).innerText()))
    expect(texts.join(' ')).toMatch(message)
  }
  const runTest = (page: Page) =>
    page.getByRole('region', { name: 'Test' }).getByRole('button', { name: 'Run test' }).click()

  it('leads from a failed test to the field to correct, on every page with a test', async () => {
    const { page, context, wrong } = await open('/settings/directory')
    const url = page.getByLabel('Address', { exact: true })
    await url.fill(`ldap://127.0.0.1:${closed}`)
    await page.getByLabel('Security').selectOption('none')
    await page.getByLabel('Base DN', { exact: true }).fill('dc=example,dc=org')
    await runTest(page)
    await expectNamed(page, url, /Nothing listens at this address/)
    // The message belongs to the value that was tested.
    await url.fill(`ldap://127.0.0.1:${closed}/`)
    expect(await url.getAttribute('aria-invalid')).not.toBe('true')
    // A test that cannot start leads to the field in the same way.
    await page.getByLabel('Base DN', { exact: true }).fill('')
    await runTest(page)
    await expectNamed(page, page.getByLabel('Base DN', { exact: true }), /is required for the test/)
    await page.getByRole('button', { name: 'Discard' }).click()

    await page.goto('/settings/mail')
    await page.getByLabel('Server', { exact: true }).fill('127.0.0.1')
    await page.getByLabel('Port', { exact: true }).fill(String(closed))
    await page.getByLabel('Sender').fill('portcullis@example.org')
    await runTest(page)
    await expectNamed(page, page.getByLabel('Port', { exact: true }), /Connection refused/)
    // Fields that only the test uses show their errors as well.
    await page.getByLabel('Test recipient').fill('nobody')
    await runTest(page)
    await expectNamed(page, page.getByLabel('Test recipient'), /is not a mail address/)
    await page.getByRole('button', { name: 'Discard' }).click()

    await page.goto('/settings/identity')
    const issuer = page.getByLabel('Issuer', { exact: true })
    await issuer.fill(`https://127.0.0.1:${closed}`)
    await page.getByLabel('Client ID', { exact: true }).fill('portcullis')
    await runTest(page)
    await expectNamed(page, issuer, /Nothing listens at this address/)
    await page.getByRole('button', { name: 'Discard' }).click()

    await page.goto('/settings/ise')
    const address = page.getByLabel('Address', { exact: true })
    await address.fill(`https://127.0.0.1:${closed}`)
    await page.getByLabel('User', { exact: true }).fill('ers')
    await page.getByLabel('Password', { exact: true }).fill('a secret of ISE')
    await page.getByLabel('ANC policy').fill('Quarantine')
    await runTest(page)
    await expectNamed(page, address, /Connection refused/)
    await page.getByRole('button', { name: 'Discard' }).click()

    await page.goto('/settings/counteract')
    await address.fill(`https://127.0.0.1:${closed}`)
    await page.getByLabel('Web API user', { exact: true }).fill('reader')
    await page.getByLabel('Web API password', { exact: true }).fill('a secret of CounterACT')
    await page.getByLabel('DEX account').fill('portcullis@dex')
    await page.getByLabel('DEX password', { exact: true }).fill('a secret of DEX')
    await runTest(page)
    await expectNamed(page, address, /Connection refused/)
    await page.getByRole('button', { name: 'Discard' }).click()

    await page.goto('/settings/notifications/6')
    for (const [region, label, value] of [
      ['Webhook', 'URL', `http://127.0.0.1:${closed}/hook`],
      ['Syslog', 'Address', `127.0.0.1:${closed}`],
    ] as const) {
      const section = page.getByRole('region', { name: region })
      if (region === 'Syslog') await section.getByLabel('Protocol').selectOption('tcp')
      await section.getByLabel(label, { exact: true }).fill(value)
      await section.getByRole('button', { name: 'Send test' }).click()
      await expectNamed(page, section.getByLabel(label, { exact: true }), /unreachable or refuses connections/)
    }
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows thresholds by part, each with unit, meaning and default, and resets one to its default', async () => {
    const { page, context, wrong } = await open('/settings/thresholds')
    const latency = page.getByLabel('Database latency: warning (ms)')
    await latency.waitFor()
    for (const part of ['Database', 'Disk', 'Queues and jobs', 'Clock', 'Hosts', 'Licence, backup and knowledge'])
      await page.getByRole('region', { name: part, exact: true }).getByRole('heading', { name: part }).waitFor()
    const database = page.getByRole('region', { name: 'Database', exact: true })
    await database.getByText('Latency of a minimal query that causes a warning. Default: 250 ms.').waitFor()
    expect(await page.getByRole('button', { name: /^Reset to default/ }).count()).toBe(0)
    await latency.fill('400')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as version 1.').waitFor()
    await database.getByRole('button', { name: 'Reset to default: Database latency: warning (ms)' }).click()
    expect(await latency.inputValue()).toBe('250')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as version 2.').waitFor()
    expect((await items('VENDORA_HEALTH_')).VENDORA_HEALTH_DATABASE_WARNING_MS).toBe('250')
    await page.goto('/settings/health')
    const card = page.getByRole('region', { name: 'Thresholds' })
    await card.getByRole('heading', { name: 'Queues and jobs' }).waitFor()
    await card.getByText('10,000 reports').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('has one page for the settings of the policy', async () => {
    const { page, context, wrong } = await open('/settings/policy')
    await page.waitForURL('/policy/settings')
    await page
      .getByTestId('two-person')
      .getByText(/only one Administrator exists/)
      .waitFor()
    const labels = [
      'Hosts without a second approver',
      'Maximum grant (hours)',
      'Command expiry (hours)',
      'Contact',
      'Last keyboard: tags without exception',
      'Fail closed: tags',
    ]
    for (const label of labels) await page.getByLabel(label, { exact: true }).waitFor()
    await page.getByLabel('Contact', { exact: true }).fill('The desk, 4410')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/^Saved as version/).waitFor()
    expect((await server.get<{ settings: { contact: string } }>('policy')).settings.contact).toBe('The desk, 4410')
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('list', { name: 'Versions' }).getByRole('listitem').first().waitFor()
    expect(new URL(page.url()).pathname).toBe('/policy/settings')
    await page.goto('/settings/product')
    await page.getByLabel('Check-in interval (seconds)').waitFor()
    for (const label of labels) expect(await page.getByLabel(label, { exact: true }).count(), label).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })
})
