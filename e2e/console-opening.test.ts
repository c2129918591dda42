import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import type { Agent } from '@portcullis/features/contract.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { until } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'
import { startHosts } from './obedient-hosts.ts'

const stick = { vid: '0781', pid: '5581' }

interface Rule {
  id: string
  effect: string
}

describe('changes that allow devices', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let hosts: Awaited<ReturnType<typeof startHosts>>

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const devices = [plainKeyboard({ portPath: '1-1' }), storageStick({ portPath: '1-2' })]
    hosts = await startHosts(server, [
      { name: 'LAB-1', devices },
      { name: 'LAB-2', devices },
    ])
  })
  afterAll(async () => {
    await hosts?.stop()
    await server?.stop()
  })

  const open = (path: string) => openSignedIn(browser, server.url, path)
  const dialog = (page: Page) => page.getByRole('dialog')
  const rules = async () => (await server.get<{ data: Rule[] }>('policy/rules')).data
  const effects = async () => (await rules()).map(({ effect }) => effect).sort()
  const idOf = async (effect: string) => (await rules()).find((rule) => rule.effect === effect)?.id
  const trail = async () => JSON.stringify(await server.get('events/GetAuditsIntegration?PageSize=50'))
  const cancelFocused = (page: Page) => page.locator('[role=dialog] button:has-text("Cancel"):focus').waitFor()
  const whenMode = (mode: string) =>
    until(`the hosts are ${mode}`, async () =>
      (await server.agents()).every(({ operationalStatus }: Agent) => operationalStatus === mode),
    )
  const refused = {
    status: 403,
    contentType: 'application/problem+json',
    body: JSON.stringify({ code: 'second_person_required', detail: 'Request 1 waits for a second approver.' }),
  }

  it('asks with a reason before the undo of arming frees two hosts', async () => {
    const { page, context, wrong } = await open('/agents')
    await page.getByRole('grid').getByText('LAB-2').waitFor()
    await page.getByLabel('Select all rows').click()
    await page.getByRole('button', { name: 'Arm…' }).click()
    await dialog(page).getByRole('button').and(page.locator(':focus')).waitFor()
    await dialog(page)
      .getByRole('button', { name: /^Arm \d+ hosts?$/ })
      .click()
    await page.getByText('Arming 2 hosts.').waitFor()
    await whenMode('Armed')
    await page.getByRole('button', { name: 'Undo' }).click()
    await cancelFocused(page)
    const free = dialog(page).getByRole('button', { name: 'Free', exact: true })
    expect(await free.isDisabled()).toBe(true)
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('Armed too early')
    await free.click()
    await whenMode('Free')
    expect(await trail()).toContain('reason: Armed too early')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('stores only one request to approve attached devices', async () => {
    const { page, context } = await open('/policy')
    await page.route('**/agents/bulk', (route) => route.fulfill(refused))
    await page.getByRole('button', { name: 'Approve attached devices…' }).click()
    await cancelFocused(page)
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('The lab opens')
    await dialog(page).getByRole('button', { name: 'Approve devices' }).click()
    await dialog(page).getByText('Waiting for a second approver').waitFor()
    expect(await dialog(page).locator('button[type=submit]').count()).toBe(0)
    await dialog(page).getByRole('button', { name: 'Close' }).last().click()
    await dialog(page).waitFor({ state: 'detached' })
    await context.close()
  })

  it('asks before a new rule allows devices on two hosts, and focuses Cancel', async () => {
    const { page, context, wrong } = await open('/policy?open=new&device=0781:5581')
    const form = page.getByRole('form', { name: 'Add rule' })
    await form.getByRole('textbox', { name: 'Reason', exact: true }).fill('sticks of the lab')
    await form.getByText('All hosts', { exact: true }).click()
    await page.keyboard.press('Control+Enter')
    await dialog(page).getByText('Allow devices on 2 hosts').waitFor()
    await cancelFocused(page)
    await page.keyboard.press('Enter')
    await dialog(page).waitFor({ state: 'detached' })
    expect(await rules()).toEqual([])
    await form.getByRole('button', { name: 'Add rule' }).click()
    await dialog(page).getByRole('button', { name: 'Add rule' }).click()
    await page.getByText('Rule added.').waitFor()
    expect(await effects()).toEqual(['allow'])
    expect(wrong).toEqual([])
    await context.close()
  })

  it('names devices that work again when a deny is deleted, and undoes the deletion with one click', async () => {
    await server.post('policy/rules', { effect: 'deny', ...stick, reason: 'no sticks' })
    await server.post('agents/bulk', { action: 'arm', filter: {}, applyToPresent: true })
    await whenMode('Armed')
    const { page, context, wrong } = await open(`/policy?open=${await idOf('deny')}`)
    await page.getByRole('button', { name: 'Delete rule…' }).click()
    await page.locator('button:has-text("Cancel"):focus').waitFor()
    await page.getByTestId('works-again').getByText('2 blocked devices will work again on 2 hosts.').waitFor()
    const remove = page.getByRole('button', { name: 'Delete rule' })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByRole('textbox', { name: 'Reason', exact: true }).fill('The ban is over')
    await remove.click()
    await page.getByText('Rule deleted.').waitFor()
    expect(await effects()).toEqual(['allow'])
    expect(await trail()).toContain('reason: The ban is over')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    expect(await effects()).toEqual(['allow', 'deny'])
    expect(wrong).toEqual([])
    await context.close()
  })

  it('asks with a reason before an undo allows devices on two hosts', async () => {
    // Version 1 has only the allow.
    await server.post('policy/restore', { version: 1 })
    const { page, context, wrong } = await open(`/policy?open=${await idOf('allow')}`)
    await page.getByRole('button', { name: 'Delete rule…' }).click()
    // A change that only blocks needs no reason.
    await page.getByRole('button', { name: 'Delete rule' }).click()
    await page.getByText('Rule deleted.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await dialog(page).getByText('2 blocked devices will work again on 2 hosts.').waitFor()
    await cancelFocused(page)
    expect(await rules()).toEqual([])
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('Deleted by mistake')
    await dialog(page).getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    expect(await effects()).toEqual(['allow'])
    expect(await trail()).toContain('reason: Deleted by mistake')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('offers no second save while an account, settings or agentless host waits for a second approver', async () => {
    const { page, context } = await open('/settings/accounts')
    for (const path of ['**/admin/adduser', '**/generalconfig/AddOrUpdate*', '**/agentless/connectiondetails'])
      await page.route(path, (route) =>
        route.request().method() === 'GET' ? route.continue() : route.fulfill(refused),
      )
    const stored = () => page.getByText('Waiting for a second approver').waitFor()
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByLabel('User name').fill('nora')
    await dialog(page).getByRole('button', { name: 'Create account' }).click()
    await stored()
    expect(await page.locator('button[type=submit]').count()).toBe(0)

    await page.goto('/policy/settings')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await page.getByLabel('Contact', { exact: true }).fill('The desk')
    await save.click()
    await stored()
    expect(await save.count()).toBe(0)
    // Different settings are a different request.
    await page.getByLabel('Contact', { exact: true }).fill('The other desk')
    await save.waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()

    await page.goto('/settings/mail')
    await page.getByLabel('Server', { exact: true }).fill('127.0.0.1')
    await page.getByLabel('Sender').fill('portcullis@example.org')
    await save.click()
    await stored()
    expect(await save.count()).toBe(0)
    await page.getByLabel('Sender').fill('gate@example.org')
    await save.waitFor()

    await page.getByRole('button', { name: 'Discard' }).click()
    await page.goto('/agentless?open=*')
    const add = page.getByRole('complementary').getByRole('button', { name: 'Add agentless host' })
    await page.getByLabel('Host', { exact: true }).fill('polled.example')
    await add.click()
    await stored()
    expect(await add.count()).toBe(0)
    await page.getByLabel('Host', { exact: true }).fill('other.example')
    await add.waitFor()
    await context.close()
  })
})
