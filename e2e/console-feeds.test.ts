import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const event = (Computer: string, EventRecordId: number) =>
  JSON.stringify({
    EventID: 6416,
    Computer,
    EventRecordId,
    TimeGenerated: new Date(Date.now() - 3_600_000).toISOString(),
    DeviceId: 'USB\\VID_0951&PID_1666\\60A44C3FAFE0B2B0D9A8000B',
    VendorIds: 'USB\\VID_0951&PID_1666&REV_0110',
    CompatibleIds: 'USB\\Class_08&SubClass_06&Prot_50',
  })

describe.skipIf(whyNoChromium !== null)('feeds in the console', () => {
  let server: ConsoleServer
  let browser: Browser

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })

  it('are created with their token, show their last lines and errors, and their hosts have an age', async () => {
    const { page, context, wrong } = await openSignedIn(browser, server.url, '/agentless', { width: 1440, height: 900 })
    await page.getByRole('button', { name: 'Feeds…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Feeds' })
    await dialog.getByText('No feeds yet.').waitFor()
    await dialog.getByRole('button', { name: 'Add feed' }).click()
    await dialog.getByLabel('Name').fill('Collector Berlin')
    await dialog.getByRole('button', { name: 'Create feed' }).click()
    await dialog.getByText('The token is shown once').waitFor()
    const shown = await dialog.innerText()
    const token = /pct_[\w-]+/.exec(shown)?.[0]
    const address = /http\S+?\/ingest\/feeds\/[0-9a-f-]{36}/.exec(shown)?.[0] ?? ''
    const sent = await fetch(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: `${event('pc-7.corp.example', 1)}\nno event\n`,
    })
    expect(await sent.json()).toMatchObject({ stored: 1, failed: 1 })

    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.getByRole('button', { name: 'Show last lines' }).click()
    await dialog.getByText('pc-7.corp.example').waitFor()
    await dialog.getByText('The line is not a JSON object or a Windows event in XML.').waitFor()
    await page.keyboard.press('Escape')

    await page.goto(`${server.url}/agents?DeploymentMode=Feed`)
    await page.getByRole('grid').getByText('pc-7.corp.example').first().click()
    await page.getByText('Details', { exact: true }).click()
    await page.getByText('Not available from feeds').first().waitFor()
    await page.getByText('The newest event is less than a day old').waitFor()
    await page.getByText('Observed by feed').first().waitFor()

    // The feed does not report ports.
    const { data } = await server.get<{ data: { uuid: string; deviceID: string; hierarchy: string }[] }>('peripherals')
    const [{ uuid, deviceID, hierarchy } = { uuid: '', deviceID: '', hierarchy: '' }] = data
    await page.goto(`${server.url}/peripherals/${uuid}?device=${encodeURIComponent(deviceID)}`)
    await page.getByText('Connection', { exact: true }).waitFor()
    const facts = await page.locator('main').innerText()
    expect(facts).toMatch(/Port\s+Unknown\s+Connection\s+Unknown/)
    expect(facts).not.toContain(hierarchy)
    expect(wrong).toEqual([])
    await context.close()
  })
})
