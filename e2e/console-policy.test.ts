import {
  hostileStrings,
  hostileTexts,
  plainKeyboard,
  rubberDucky,
  storageStick,
  unless,
} from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { createTree, remove, type Started, startAgent, temporaryDir, until } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

interface Policy {
  version: number
  rules: { allow: number; deny: number; grants: number }
  waiting: number
}
interface Rule {
  effect: string
  vid: string | null
  host: string | null
  reason: string
  sentence: string
}

describe('policy in the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let agent: Started
  let uuid = ''
  let hostName = ''
  const stick = storageStick({ portPath: '1-2' })
  const tree = createTree([
    plainKeyboard({ portPath: '1-1' }),
    stick,
    hostileStrings('html', { portPath: '1-3' }),
    rubberDucky({ portPath: '1-4' }),
  ])
  const dirs = [tree.dir, temporaryDir()]

  beforeAll(async () => {
    server = await startConsoleServer()
    agent = startAgent(server, await server.enrolmentToken(), tree, dirs[1] as string)
    const { value } = await until(
      'a host with its devices',
      async () => {
        const [host] = await server.agents()
        return host !== undefined && (await server.peripherals(host.uuid)).length === 4 ? host : undefined
      },
      30_000,
    )
    uuid = value.uuid
    hostName = value.hostIdentifier
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    agent?.child.kill('SIGTERM')
    await agent?.ended
    await server?.stop()
    for (const dir of dirs) remove(dir)
  })

  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })
  const policy = () => server.get<Policy>('policy')
  const rules = async () => (await server.get<{ data: Rule[] }>('policy/rules')).data
  const preview = (page: Page) => page.getByTestId('preview')
  const reason = (page: Page) => page.getByRole('textbox', { name: 'Reason', exact: true })

  it('adds a rule by keyboard after a preview, and undoes it', async () => {
    const { page, context, wrong } = await open('/policy')
    await page.getByText('No rules yet').waitFor()
    // Approving everything opens a dialog that focuses Cancel.
    await page.getByRole('button', { name: 'Approve attached devices…' }).click()
    await page.locator('[role=dialog] button:has-text("Cancel"):focus').waitFor()
    await page
      .getByRole('dialog')
      .getByText(/will be approved there/)
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await rules()).toEqual([])
    await page.keyboard.press('n')
    await page.getByRole('form', { name: 'Add rule' }).waitFor()

    // A rule without devices is not sent, and each error is shown at its field.
    await page.getByRole('form', { name: 'Add rule' }).getByRole('button', { name: 'Add rule' }).click()
    await page.getByText('Choose devices by vendor ID').waitFor()
    expect((await policy()).version).toBe(0)

    await page.getByRole('combobox', { name: 'Find a model in your fleet' }).fill('KB216')
    await page.getByRole('option', { name: /413C:2113/ }).click()
    expect(await page.getByRole('textbox', { name: 'Vendor ID' }).inputValue()).toBe('413C')
    await page.getByRole('form', { name: 'Add rule' }).getByText('All hosts', { exact: true }).click()
    await preview(page)
      .getByText(/^Changes 1 device on 1 host, \d+ attachments?: 1 will be allowed/)
      .waitFor()
    await page.getByRole('button', { name: 'Test against the last 30 days' }).click()
    await page.getByText(/1 device fewer than with the current rules/).waitFor()
    await reason(page).fill('one of <b>ours</b>')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Rule added.').waitFor()

    await page.getByRole('grid').getByRole('row').filter({ hasText: 'one of <b>ours</b>' }).waitFor()
    expect(await rules()).toMatchObject([{ effect: 'allow', vid: '413C', reason: 'one of <b>ours</b>' }])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('No rules yet').waitFor()
    expect(await rules()).toEqual([])
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows the changes of a version, and restores it after a preview', async () => {
    const { page, context, wrong } = await open('/policy/history')
    // The rule and its undo are two versions.
    await page.getByRole('list', { name: 'Versions' }).getByRole('listitem').nth(1).waitFor()
    await page.getByRole('button', { name: /1 Added a rule/ }).click()
    await page.getByText(/Allow .*413C:2113 on all hosts/).waitFor()
    expect(page.url()).toContain('version=1')
    await page.getByRole('button', { name: 'Restore…' }).click()
    await page.getByText('1 rule or grant returns.').waitFor()
    await page.locator('[role=dialog] button:has-text("Cancel"):focus').waitFor()
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await page.getByText('Version 1 restored.').waitFor()
    expect(await rules()).toHaveLength(1)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('arms a host after a preview, and shows the command until the host confirms it', async () => {
    const { page, context, wrong } = await open(`/agents/${uuid}`)
    await page.getByText('Not on the allowlist').first().waitFor()
    await page.getByRole('button', { name: 'Arm…' }).click()
    const gate = page.getByRole('dialog')
    // The rule allows the keyboard, but not the stick, the hostile stick and the attack tool.
    await gate.getByText(/^Arming blocks 3 devices on 1 host/).waitFor()
    await gate.getByText('No rule allows it').first().waitFor()
    await gate.getByText('Attack tool', { exact: true }).first().waitFor()
    await gate.getByText(/1 attached attack tool stops working/).waitFor()
    await gate.getByRole('checkbox', { name: 'Also apply to attached devices' }).check()
    await gate.getByText(/stop working immediately/).waitFor()
    await gate.getByRole('button', { name: /^Arm \d+ hosts?$/ }).click()
    await page.getByText(/^Arming 1 host/).waitFor()
    await page.getByRole('button', { name: 'Free…' }).waitFor()
    await until('the host is armed', async () => (await server.agent(uuid)).operationalStatus === 'Armed', 20_000)

    // Each device shows its decision, with the reason one click away.
    await page.getByText('Blocked', { exact: true }).first().waitFor({ timeout: 20_000 })
    await page.getByRole('button', { name: 'Explain: Blocked' }).first().click()
    await page.getByText(/Case number shown to the user: PC-/).waitFor()
    await page.getByRole('tab', { name: 'Policy' }).click()
    await page.getByText(/413C:2113 on all hosts/).waitFor()
    await page.getByRole('tab', { name: 'Commands' }).click()
    await page.getByRole('table', { name: 'Commands' }).getByText('Confirmed', { exact: true }).first().waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('approves the selected row by key, names devices that work again, and undoes it', async () => {
    await until('devices wait', async () => (await policy()).waiting >= 2, 20_000)
    const { page, context, wrong } = await open('/approvals')
    const inbox = page.getByRole('list', { name: 'Devices awaiting approval' })
    await inbox.getByText('0781:5581').waitFor()
    await page.getByRole('link', { name: /Device approvals.*\d/ }).waitFor()
    // Keys decide nothing without a selection. `g` only begins a navigation shortcut.
    for (const key of ['a', 'd', 't', 'f', 'g']) await page.keyboard.press(key)
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(page.url()).toContain('/approvals')
    await page.keyboard.press('Escape')
    // Moves to the row of the sticks.
    await inbox.getByRole('button', { name: /^Mass Storage SanDisk/ }).focus()
    for (let step = 0; step < 5; step++) {
      await page.keyboard.press('j')
      if ((await page.locator('[data-cursor]').textContent())?.includes('0781:5581') === true) break
    }
    await page.keyboard.press('a')
    const dialog = page.getByRole('dialog')
    await dialog
      .getByText(/will be allowed/)
      .first()
      .waitFor()
    await dialog.getByText(/blocked devices? will work again on 1 host/).waitFor()
    await dialog.getByLabel('Reason').and(page.locator(':focus')).waitFor()
    await dialog.getByRole('button', { name: 'Approve on this host' }).click()
    await page.getByText('Approved on 1 host.').waitFor()
    await inbox.getByText('0781:5581').waitFor({ state: 'detached' })
    expect((await rules()).filter((rule) => rule.host === uuid)).toMatchObject([{ effect: 'allow', vid: '0781' }])
    // The host confirms that the device works again.
    await until(
      'the stick works',
      async () => (await server.peripherals(uuid)).some((device) => device.hierarchy === '1-2' && !device.isDisabled),
      20_000,
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await inbox.getByText('0781:5581').waitFor()
    expect((await rules()).filter((rule) => rule.host === uuid)).toEqual([])
    expect(wrong).toEqual([])
    await context.close()
  })

  it('approves an attack tool only with an override and a reason', async () => {
    const { page, context, wrong } = await open('/approvals')
    const inbox = page.getByRole('list', { name: 'Devices awaiting approval' })
    const line = inbox.getByRole('listitem').filter({ hasText: 'attack tool' })
    await line.getByRole('button', { name: 'Approve…' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/Rubber Ducky/).waitFor()
    const allow = dialog.getByRole('button', { name: 'Approve on this host' })
    expect(await allow.isDisabled()).toBe(true)
    await dialog.getByRole('switch', { name: /despite attack-tool finding/ }).check({ force: true })
    expect(await allow.isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('a test of the guards')
    await expect.poll(() => allow.isDisabled()).toBe(false)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(wrong).toEqual([])
    await context.close()
  })

  it.each([
    [1440, 900],
    [1024, 768],
  ])('fits %i x %i, and shows untrusted text without markup', async (width, height) => {
    const { page, context, wrong } = await open('/policy', width, height)
    for (const path of [
      '/policy',
      '/policy?open=new&device=413C:2113',
      '/policy/grants',
      '/policy/simulator',
      '/policy/history?version=1',
      '/policy/settings',
      '/approvals',
      '/agentless',
      '/agentless?open=*',
      `/agents/${uuid}?tab=policy`,
    ]) {
      await page.goto(path)
      await page.getByRole('navigation', { name: 'Main' }).waitFor()
      await page.waitForLoadState('load')
      expect(
        await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth'),
        path,
      ).toBeLessThanOrEqual(0)
      expect(await page.locator('img[src="x"]').count(), path).toBe(0)
    }
    await page.goto(`/agents/${uuid}`)
    await page.getByText(hostileTexts.html).first().waitFor()
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    await page.goto('/policy/settings')
    await page
      .getByTestId('two-person')
      .getByText(/only one Administrator exists/)
      .waitFor()
    await page.goto('/policy/simulator')
    await page.getByRole('grid').getByText(hostName).first().waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})
