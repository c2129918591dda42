import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const hour = 3_600_000

describe('the timeline of a host', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let host: TestAgent

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const token = await server.enrolmentToken()
    host = await enrolAgent(at, { token, facts: { hostname: 'front-desk' }, devices: [plainKeyboard()] })
    // The host was offline at noon of yesterday, when a stick was attached, and reports it now.
    const noon = new Date(Date.now() - 24 * hour).setHours(12, 0, 0, 0)
    const stick = storageStick({ portPath: '1-2' })
    host.devices.set('1-2', stick)
    const body = host.body({ changes: [{ op: 'attached', at: noon, device: stick }], clock: noon })
    const headers = { 'portcullis-age': String(Date.now() - noon) }
    expect((await host.post(body, host.state.session, headers)).status).toBe(200)
  })
  afterAll(() => server?.stop())

  const lines = (page: Page) => page.getByRole('tabpanel').getByRole('listitem')

  it('shows the changes of yesterday after one click, and keeps the range and the lanes in the address', async () => {
    const { page, context, wrong } = await openSignedIn(browser, server.url, `/agents/${host.agentId}`)
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await lines(page).filter({ hasText: 'Agent enrolled' }).waitFor()
    await page.getByRole('button', { name: 'Yesterday' }).click()
    await lines(page).filter({ hasText: 'New USB peripheral detected' }).waitFor()
    expect(await lines(page).count()).toBe(1)
    expect(await lines(page).innerText()).toContain('12:00:00')
    await page.getByRole('button', { name: /^Audit/ }).click()
    await page.getByText('Nothing in the selected lanes. 1 entry is in other lanes.').waitFor()
    await page.reload()
    await page.getByText('Nothing in the selected lanes. 1 entry is in other lanes.').waitFor()
    await page.getByRole('button', { name: 'Show all lanes' }).click()
    await lines(page).getByRole('link', { name: 'New USB peripheral detected' }).click()
    await page.getByRole('heading', { name: 'New USB peripheral detected' }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('says that a range ends before it begins, and keeps what was typed', async () => {
    const { page, context, wrong } = await openSignedIn(
      browser,
      server.url,
      `/agents/${host.agentId}?tab=timeline&from=2031-05-04T10:00:00Z&to=2031-05-03T10:00:00Z`,
    )
    await page.getByText('The range ends before it begins.').waitFor()
    expect(await page.getByLabel('From').inputValue()).toMatch(/^2031-05-0/)
    await page.getByRole('button', { name: 'Today' }).click()
    await lines(page).filter({ hasText: 'Agent enrolled' }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})

describe('the history of a device', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let hosts: TestAgent[]

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const token = await server.enrolmentToken()
    const stick = storageStick({ portPath: '1-2', serial: '4C530001230615112400' })
    hosts = []
    for (const hostname of ['desk-1', 'desk-2']) {
      const host = await enrolAgent(at, { token, facts: { hostname } })
      await host.plug(stick)
      hosts.push(host)
    }
  })
  afterAll(() => server?.stop())

  it('shows the hosts and the decisions, and what a serial number in two places means', async () => {
    const device = encodeURIComponent('USB\\VID_0781&PID_5581\\4C530001230615112400')
    const { page, context, wrong } = await openSignedIn(
      browser,
      server.url,
      `/peripherals/${hosts[0]?.agentId}?device=${device}`,
    )
    await page.getByText('desk-1 and desk-2 had the device at the same time.').waitFor()
    await page.getByText('A rule with this serial number applies to each of them.').waitFor()
    expect(await page.getByRole('img', { name: /^desk-[12]: .* to now/ }).count()).toBe(2)
    const decisions = page.getByRole('table', { name: 'Decisions' })
    await decisions.getByRole('row').filter({ hasText: 'desk-2' }).filter({ hasText: 'No rule allows it' }).waitFor()
    await page.getByRole('link', { name: 'desk-2' }).click()
    await page.getByRole('heading', { name: 'desk-2' }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('compares the two hosts, and keeps the other one in the address', async () => {
    await hosts[0]?.plug(plainKeyboard({ portPath: '1-5' }))
    const { page, context, wrong } = await openSignedIn(browser, server.url, `/agents/${hosts[0]?.agentId}?tab=compare`)
    await page.getByRole('combobox', { name: 'Compare with host' }).fill('desk-2')
    await page.getByRole('option', { name: 'desk-2' }).click()
    const devices = page.getByRole('table', { name: 'Attached devices by model' })
    await devices.getByRole('row').filter({ hasText: 'Only on desk-1' }).waitFor()
    expect(await devices.getByRole('row').filter({ hasText: 'Same' }).count()).toBe(1)
    await page.getByText('The same rules apply to both hosts.').waitFor()
    await page.reload()
    await devices.getByRole('row').filter({ hasText: 'Only on desk-1' }).waitFor()
    expect(page.url()).toContain(`with=${hosts[1]?.agentId}`)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows the hosts, decisions and serial numbers of its model, each with its rows', async () => {
    const { page, context, wrong } = await openSignedIn(browser, server.url, '/peripherals/models')
    await page.getByRole('grid').getByRole('link', { name: 'Ultra', exact: false }).click()
    await page.getByRole('link', { name: 'attached to 2 hosts' }).waitFor()
    expect(await page.getByRole('link', { name: /^2 new hosts, / }).getAttribute('href')).toContain('firstSeen=')
    await page.getByText('2 hosts got a first device of this model in the last 90 days').waitFor()
    await page
      .getByText('A rule with a serial number applies to every device that has this number.', { exact: false })
      .waitFor()
    await page.getByRole('table', { name: 'Decisions' }).getByText('No rule allows it').waitFor()
    await page.getByRole('link', { name: /^2 new hosts, / }).click()
    await page.getByRole('grid').getByText('desk-1').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})
