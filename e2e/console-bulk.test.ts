import { plainKeyboard, rubberDucky, storageStick, unless } from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { until } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

interface Rule {
  effect: string
  vid: string
  serial: string | null
  hostIdentifier: string
  reason: string
}

describe('decisions about many devices', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  const kingston = (serial: string, portPath: string, manufacturer = 'Kingston') =>
    storageStick({ vid: '0951', pid: '1666', portPath, serial, manufacturer, product: 'DataTraveler' })

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const hosts = {
      'bulk-one': [plainKeyboard({ portPath: '1-1' }), kingston('K1', '1-2'), rubberDucky({ portPath: '1-3' })],
      'bulk-two': [plainKeyboard({ portPath: '1-1' }), kingston('K2', '1-2', 'Generic')],
      'bulk-three': [kingston('K3', '1-1'), storageStick({ portPath: '1-2' })],
    }
    for (const [hostname, devices] of Object.entries(hosts)) {
      const host = await enrolAgent(at, { token, devices, facts: { hostname, enforcement: 'before-driver' } })
      await host.checkIn({ enforcement: { mode: 'Armed', policyVersion: 0, reason: '' } })
    }
    await until('devices wait', async () => (await server.get<{ waiting: number }>('policy')).waiting === 7)
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })
  const rules = async () => (await server.get<{ data: Rule[] }>('policy/rules?PageSize=100')).data
  const counts = async (page: Page, path: string, heading: string) => {
    await page.goto(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }

  it('filters by vendor in the same way in every list, and links a model to its hosts', async () => {
    const { page, context, wrong } = await open('/peripherals?vendor=kingston')
    const grid = page.getByRole('grid')
    await grid.getByText('DataTraveler').nth(2).waitFor()
    expect(await grid.getByRole('row').filter({ hasText: '0951:1666' }).count()).toBe(3)
    await counts(page, '/approvals?vendor=kingston', 'Device approvals')
    const waiting = page.getByRole('list', { name: 'Devices awaiting approval' })
    await waiting.getByText('3 devices on 3 hosts').waitFor()
    expect(await waiting.getByRole('listitem').count()).toBe(1)
    await counts(page, '/insights?tab=violations&vendor=kingston', 'Insights')
    await page.getByRole('table').getByText('K3').waitFor()
    expect(await page.getByRole('table').getByRole('button').count()).toBe(3)
    await counts(page, '/agents?Vendor=kingston', 'Hosts')
    await grid.getByText('bulk-three').waitFor()
    expect(await grid.getByRole('row').filter({ hasText: 'bulk-' }).count()).toBe(3)
    await counts(page, '/peripherals/models?vendor=kingston', 'Devices')
    const model = grid.getByRole('row').filter({ hasText: '0951:1666' })
    await model.getByRole('link', { name: '3', exact: true }).click()
    await page.waitForURL(/\/agents\?Model=0951:1666/)
    await grid.getByText('bulk-two').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('approves and denies the devices of selected models in one action, each on its host', async () => {
    const { page, context, wrong } = await open('/peripherals/models')
    const grid = page.getByRole('grid')
    const rowOf = (ids: string) => grid.getByRole('row').filter({ hasText: ids })
    for (const ids of ['0951:1666', '0781:5581']) await rowOf(ids).getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Approve…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('4 devices on 3 hosts').waitFor()
    await dialog.getByText('3 × ').waitFor()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('memory sticks of the lab')
    await dialog.getByRole('button', { name: 'Approve 4 devices' }).click()
    await page.getByText('Approved 4 devices on 3 hosts.').waitFor()
    expect((await rules()).map(({ effect, vid }) => `${effect} ${vid}`).toSorted()).toEqual([
      'allow 0781',
      'allow 0951',
      'allow 0951',
      'allow 0951',
    ])
    await page.getByRole('button', { name: 'Undo' }).click()
    await until('no rule is left', async () => (await rules()).length === 0)
    expect(await rowOf('0781:5581').getByRole('checkbox').isChecked()).toBe(true)
    await rowOf('0951:1666').getByRole('checkbox').uncheck()
    await page.getByRole('button', { name: 'Deny…' }).click()
    await dialog.getByRole('button', { name: 'Deny 1 device' }).click()
    await page.getByText('Denied 1 device on 1 host.').waitFor()
    expect((await rules()).map(({ effect, vid }) => `${effect} ${vid}`)).toEqual(['deny 0781'])
    await server.post('policy/restore', { version: 0 })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('keeps the search of approvals in the address, and matches the count in the navigation', async () => {
    const { page, context, wrong } = await open('/approvals')
    const waiting = page.getByRole('list', { name: 'Devices awaiting approval' })
    await waiting.getByText('0781:5581').waitFor()
    await page.getByText('4 models; 7 devices attached').waitFor()
    await page.getByRole('link', { name: /Device approvals\s*7$/ }).waitFor()
    await page.getByRole('textbox', { name: 'Device, vendor, VID:PID, serial number, host' }).fill('bulk-three')
    await page.waitForURL(/q=bulk-three/)
    await waiting.getByText('413C:2113').waitFor({ state: 'detached' })
    await page.getByText('2 of 4 models').waitFor()
    expect(await waiting.getByText('1 device on 1 host').count()).toBe(2)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('approves the selected rows with a reason, without attack tools, and undoes it', async () => {
    const { page, context, wrong } = await open('/approvals')
    const waiting = page.getByRole('list', { name: 'Devices awaiting approval' })
    // Attack tools come first.
    expect(await waiting.getByRole('listitem').first().innerText()).toContain('03EB:2401')
    await page.getByRole('checkbox', { name: /^Select .*DataTraveler/ }).check()
    await page.getByRole('checkbox', { name: /^Select Atmel/ }).check()
    await page.getByRole('region', { name: 'Selection' }).getByText('4 devices selected').waitFor()
    await page.keyboard.press('a')
    const dialog = page.getByRole('dialog', { name: 'Approve devices' })
    await dialog.getByLabel('Reason').and(page.locator(':focus')).waitFor()
    await dialog.getByText('1 attack tool is left out').waitFor()
    await dialog.getByText(/^Changes 3 devices on 3 hosts, \d+ attachments?: 3 will be allowed\.$/).waitFor()
    const approve = dialog.getByRole('button', { name: 'Approve 3 devices' })
    expect(await approve.isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('the sticks of the archive')
    await approve.click()
    await page.getByText('Approved 3 devices on 3 hosts.').waitFor()
    await waiting.getByText('0951:1666').waitFor({ state: 'detached' })
    expect(await rules()).toMatchObject(
      Array.from({ length: 3 }, () => ({ effect: 'allow', vid: '0951', reason: 'the sticks of the archive' })),
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await waiting.getByText('0951:1666').waitFor()
    expect(await rules()).toEqual([])
    expect(wrong).toEqual([])
    await context.close()
  })

  it('keeps hosts selected after their devices are approved, and offers to arm them', async () => {
    const { page, context, wrong } = await open('/agents?GlobalSearch=bulk')
    const grid = page.getByRole('grid')
    await grid.getByText('bulk-three').waitFor()
    await page.getByRole('checkbox', { name: 'Select all rows' }).check()
    const selection = page.getByRole('region', { name: 'Selection' })
    await selection.getByText('All 3 matching rows selected').waitFor()
    await selection.getByRole('button', { name: 'Approve all…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('baseline of the lab')
    await dialog.getByRole('button', { name: 'Approve all' }).click()
    await selection.getByText('Next step:').waitFor()
    await selection.getByText('3 selected').waitFor()
    expect(await selection.getByRole('button', { name: 'Arm…' }).count()).toBe(1)
    await selection.getByRole('button', { name: 'Arm…' }).click()
    await page.getByRole('dialog', { name: 'Arm hosts' }).waitFor()
    await page.keyboard.press('Escape')
    await server.post('policy/restore', { version: 0 })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows in a table what arming stops, names the hosts left out, and approves the devices first', async () => {
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const token = await server.enrolmentToken()
    await enrolAgent(at, { token, devices: [], facts: { hostname: 'watch-only', enforcement: 'observe' } })
    const { page, context, wrong } = await open('/agents')
    await page.getByRole('grid').getByText('watch-only').waitFor()
    await page.getByRole('checkbox', { name: 'Select all rows' }).check()
    await page.getByRole('button', { name: 'Arm…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Arm hosts' })
    const devices = dialog.getByRole('table', { name: 'Devices that arming blocks' })
    await devices.getByRole('row').nth(7).waitFor()
    expect(await devices.getByRole('row').nth(1).innerText()).toContain('Attack tool')
    await dialog.getByText('Show the host left out').click()
    await dialog.getByRole('table', { name: 'Hosts left out' }).getByText('watch-only').waitFor()
    await dialog.getByRole('button', { name: 'Approve these 6 devices first…' }).click()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('baseline before arming')
    await dialog.getByRole('button', { name: 'Approve 6 devices' }).click()
    // The dialog continues with what is left: the attack tool.
    await devices.getByRole('row').nth(1).waitFor()
    await expect.poll(() => devices.getByRole('row').count()).toBe(2)
    await dialog.getByRole('button', { name: 'Arm 3 hosts' }).waitFor()
    await page.keyboard.press('Escape')
    await server.post('policy/restore', { version: 0 })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('keeps what was typed into a rule, shows what another person changed meanwhile, and merges both', async () => {
    const { rule } = await server.post<{ rule: { id: string } }>('policy/rules', {
      effect: 'allow',
      vid: '0781',
      reason: 'first',
    })
    const { page, context, wrong } = await open(`/policy?open=${rule.id}`)
    const form = page.getByRole('form', { name: 'Edit rule' })
    const reason = form.getByRole('textbox', { name: 'Reason' })
    await reason.fill('typed by me')
    await page.reload()
    await form.getByText(/^This form shows what you typed .* and did not save/).waitFor()
    expect(await reason.inputValue()).toBe('typed by me')
    await server.put(`policy/rules/${rule.id}`, {
      effect: 'allow',
      vid: '0781',
      tag: null,
      pid: '5581',
      reason: 'theirs',
    })
    await form.getByRole('button', { name: 'Save' }).click()
    const conflict = form.getByRole('alert', { name: 'Changes by another person' })
    await conflict.getByRole('row').filter({ hasText: 'Product ID' }).getByText('Not changed').waitFor()
    expect(await conflict.getByRole('row').filter({ hasText: 'Reason' }).innerText()).toMatch(
      /first\s+theirs\s+typed by me/,
    )
    await conflict.getByRole('button', { name: 'Merge and keep my changes' }).click()
    await conflict.waitFor({ state: 'detached' })
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    expect(await rules()).toMatchObject([{ vid: '0781', pid: '5581', reason: 'typed by me' }])
    await page.goto(`/policy?open=${rule.id}`)
    await reason.waitFor()
    expect(await form.getByText(/^This form shows what you typed/).count()).toBe(0)
    await server.post('policy/restore', { version: 0 })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('denies the selected devices of the device list', async () => {
    const { page, context, wrong } = await open('/peripherals?vendor=kingston')
    const rows = page.getByRole('grid').getByRole('row').filter({ hasText: '0951:1666' })
    await rows.filter({ hasText: 'K1' }).getByRole('checkbox').check()
    await rows.filter({ hasText: 'K3' }).getByRole('checkbox').check()
    const selection = page.getByRole('region', { name: 'Selection' })
    await selection.getByRole('button', { name: 'Approve…' }).waitFor()
    await selection.getByRole('button', { name: 'Deny…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Deny devices' })
    await dialog.getByLabel('Reason').and(page.locator(':focus')).waitFor()
    await dialog.getByRole('button', { name: 'Deny 2 devices' }).click()
    await page.getByText('Denied 2 devices on 2 hosts.').waitFor()
    expect((await rules()).map(({ effect, serial }) => [effect, serial]).sort()).toEqual([
      ['deny', 'K1'],
      ['deny', 'K3'],
    ])
    expect(wrong).toEqual([])
    await context.close()
  })
})
