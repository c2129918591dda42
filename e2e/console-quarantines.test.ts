import { hostileTexts, plainKeyboard, unless } from '@portcullis/domain/testing'
import type { Quarantine } from '@portcullis/features/contract.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, until } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { createAuthority } from '../server/test/certificates.ts'
import { startIse } from '../server/test/peers/ise.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const mac = '02:AA:00:00:00:01'

const authority = await createAuthority()

describe('quarantines', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let ise: Awaited<ReturnType<typeof startIse>>
  let host: TestAgent
  // All tests share one window, because signing in takes a third of the time.
  let page: Page
  let wrong: string[]

  beforeAll(async () => {
    ise = await startIse({ certificate: await authority.issue(['localhost']) })
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    // The members of a test app that the builder uses if it has a token.
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    host = await enrolAgent(at, {
      token,
      devices: [plainKeyboard({ portPath: '1-1' })],
      facts: {
        hostname: 'front-desk',
        nics: [
          { name: 'eth0', mac: mac.toLowerCase(), addresses: ['10.1.2.3'], isUp: true },
          { name: 'wlan0', mac: '02:aa:00:00:00:02', addresses: [], isUp: false },
        ],
      },
    })
    ;({ page, wrong } = await openWindow(browser, server.url, 1440, 900))
    await page.goto('/quarantines')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
  })
  afterEach(() => expect(wrong.splice(0)).toEqual([]))
  afterAll(async () => {
    await server?.stop()
    await ise?.close()
  })

  const rail = () => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Quarantines' })
  const row = (text: string) =>
    page.getByRole('grid', { name: 'Quarantines' }).getByRole('row').filter({ hasText: text })
  const drawer = () => page.getByRole('complementary', { name: 'Quarantine' })
  const story = () => drawer().getByRole('region', { name: 'Timeline' }).getByRole('listitem')
  const dialog = () => page.getByRole('dialog')
  const newest = async () => (await server.get<{ data: Quarantine[] }>('nac/quarantines')).data[0]
  const ask = async (reason: string) => {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Quarantine…' }).click()
    // Only the interface that is up can be quarantined.
    await dialog().getByText(`Addresses: ${mac}`, { exact: true }).waitFor()
    await dialog().getByLabel('Reason').fill(reason)
    await dialog().getByRole('button', { name: 'Quarantine host', exact: true }).click()
    await dialog().waitFor({ state: 'detached' })
  }

  it('have no entry in the navigation until a system is in use, and the page explains how to set one up', async () => {
    await page.getByText('No quarantines yet').waitFor()
    expect(await rail().count()).toBe(0)
    await page.getByRole('link', { name: 'Forescout CounterACT' }).waitFor()
    await page.getByRole('link', { name: 'Cisco ISE' }).click()
    await page.waitForURL('/settings/ise')
    await page.goto(`/agents/${host.agentId}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Copy as curl' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Quarantine…' }).count()).toBe(0)
  })

  it('are requested at a host, verified and released, and the timeline shows each step live', async () => {
    await server.post('generalconfig/AddOrUpdateISEServer', {
      ISE_ENABLED: 'true',
      ISE_URL: ise.url,
      ISE_USER: ise.user,
      ISE_PASSWORD: ise.password,
      ISE_CA: authority.pem,
      ISE_ANC_POLICY: 'Quarantine',
      ISE_QUARANTINE_HOURS: '8',
    })
    ise.addEndpoint(mac)
    await page.goto(`/agents/${host.agentId}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Quarantine…' }).click()
    const button = dialog().getByRole('button', { name: 'Quarantine host', exact: true })
    expect(await button.isDisabled()).toBe(true)
    expect(await dialog().getByLabel('Duration (hours)').inputValue()).toBe('8')
    await dialog().getByLabel('Duration (hours)').fill('2')
    await dialog().getByLabel('Reason').fill(`found a stick ${hostileTexts.html}`)
    await button.click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByText('Quarantined', { exact: true }).waitFor()
    expect(ise.policyOf(mac)).toBe('Quarantine')
    const asked = (await newest()) as Quarantine
    expect(Date.parse(asked.expiresAt ?? '') - Date.parse(asked.createdAt)).toBeLessThanOrEqual(2 * 3_600_000 + 60_000)

    await page.getByRole('tab', { name: 'Details' }).click()
    await page.getByRole('button', { name: 'Look up' }).click()
    const known = page.getByRole('region', { name: 'Cisco ISE' })
    await known.getByText('PortcullisState').waitFor()
    expect(await known.textContent()).toMatch(/ANC policy\s*Quarantine/)

    await page.getByRole('link', { name: 'Open quarantine' }).click()
    await page.waitForURL(/\/quarantines\?open=/)
    await story().filter({ hasText: 'Requested' }).getByText(hostileTexts.html).waitFor()
    for (const words of ['Sent to Cisco ISE', 'Accepted by Cisco ISE', 'Verified: host is isolated'])
      await story().filter({ hasText: words }).getByRole('img', { name: 'done' }).waitFor()
    await rail().waitFor()

    await drawer().getByRole('button', { name: 'Release…' }).click()
    await dialog().getByRole('button', { name: 'Release quarantines', exact: true }).click()
    // The page updates without a reload.
    await story().filter({ hasText: 'Verified: host is released' }).waitFor()
    await drawer().getByText('Released', { exact: true }).waitFor()
    await row('front-desk').getByText('Released').waitFor()
    expect(await drawer().getByRole('button', { name: 'Release…' }).count()).toBe(0)
    expect(ise.policyOf(mac)).toBeUndefined()
    expect(await page.locator('img[src="x"]').count()).toBe(0)
  })

  it('show cause and cure after a failure, and are retried', async () => {
    ise.policies.delete('Quarantine')
    await page.goto(`/agents/${host.agentId}`)
    await ask('second time')
    await page
      .getByText(/ANC policy Quarantine does not exist in ISE. Create it/)
      .first()
      .waitFor()
    ise.policies.add('Quarantine')
    await page.getByRole('link', { name: 'Open quarantine' }).click()
    await drawer()
      .getByRole('note')
      .getByText(/ANC policy Quarantine does not exist/)
      .waitFor()
    await drawer().getByRole('button', { name: 'Retry…' }).click()
    expect(await dialog().getByLabel('Reason').inputValue()).toBe('second time')
    await dialog().getByRole('button', { name: 'Quarantine host', exact: true }).click()
    await drawer().getByText('Quarantined', { exact: true }).waitFor()
    expect(await drawer().getByRole('note').count()).toBe(0)
  })

  it('are filtered by the address, decided for a selection, and stay on the screen', async () => {
    await page.setViewportSize({ width: 1024, height: 768 })
    await page.goto('/quarantines?state=verified')
    await row('front-desk').getByText('Quarantined').waitFor()
    await page.getByText('1 of 2').waitFor()
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
    expect(beyond).toBeLessThanOrEqual(0)
    await page.getByLabel('Select all rows').click()
    await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Release…' }).click()
    await dialog().getByText('1 quarantine', { exact: true }).waitFor()
    await dialog().getByRole('button', { name: 'Release quarantines', exact: true }).click()
    await until('ISE lets it back', () => ise.policyOf(mac) === undefined)
    await page.goto('/quarantines?isActive=true')
    await page.getByText('0 of 2').waitFor()
  })

  it('are visible to a User, who cannot decide', async () => {
    const password = 'nobody decides by looking'
    await server.post('admin/adduser', { userName: 'ada', userProfile: 30, password, mustChangePassword: false })
    const own = await openWindow(browser, server.url, 1440, 900)
    await own.page.goto('/agents')
    await own.page.getByLabel('User name').fill('ada')
    await own.page.getByLabel('Password', { exact: true }).fill(password)
    await own.page.getByRole('button', { name: 'Sign in' }).click()
    // A User cannot read the configuration but sees that quarantines exist.
    await own.page.getByRole('link', { name: 'Quarantines' }).click()
    const first = own.page
      .getByRole('grid', { name: 'Quarantines' })
      .getByRole('row')
      .filter({ hasText: 'second time' })
    await first.getByText('Released').click()
    const panel = own.page.getByRole('complementary', { name: 'Quarantine' })
    await panel.getByText('Verified: host is isolated').waitFor()
    expect(await panel.getByRole('button').allInnerTexts()).toEqual(['', ''])
    expect(await own.page.getByRole('checkbox').count()).toBe(0)
    await own.page.goto(`/agents/${host.agentId}`)
    await own.page.getByRole('button', { name: 'More', exact: true }).click()
    await own.page.getByRole('menuitem', { name: 'Copy as curl' }).waitFor()
    expect(await own.page.getByRole('menuitem', { name: 'Quarantine…' }).count()).toBe(0)
    expect(own.wrong).toEqual([])
    await own.context.close()
  })

  it('are approved or dismissed for all selected rows', async () => {
    const quarantine = (await newest()) as Quarantine
    await page.goto('/agents')
    // A waiting quarantine needs 30 s with an attack tool, so the test shows a real one as waiting.
    await page.route('**/nac/quarantines?**', async (route) => {
      const answer = await route.fetch()
      const body = (await answer.json()) as { data: Quarantine[] }
      for (const one of body.data)
        if (one.id === quarantine.id)
          Object.assign(one, { state: 'waiting', isActive: true, awaitsApproval: true, isAutomatic: true })
      await route.fulfill({ response: answer, json: body })
    })
    const sent: unknown[] = []
    page.on('request', (request) => {
      const decision = /quarantines\/(approve|dismiss|clear)$/.exec(request.url())?.[1]
      if (decision !== undefined) sent.push([decision, request.postDataJSON()])
    })
    await rail().click()
    for (const [button, confirm] of [
      ['Quarantine…', 'Quarantine now'],
      ['Dismiss…', 'Dismiss quarantines'],
    ] as const) {
      await row('front-desk').first().waitFor()
      await page.getByLabel('Select all rows').click()
      const bar = page.getByRole('region', { name: 'Selection' })
      expect(await bar.getByRole('button', { name: 'Release…' }).count()).toBe(0)
      await bar.getByRole('button', { name: button }).click()
      await dialog()
        .getByText(/1 selected quarantine/)
        .waitFor()
      await dialog().getByRole('button', { name: confirm, exact: true }).click()
      await bar.waitFor({ state: 'detached' })
    }
    expect(sent).toEqual([
      ['approve', { ids: [quarantine.id] }],
      ['dismiss', { ids: [quarantine.id] }],
    ])
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})
