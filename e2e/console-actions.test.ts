import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { hostileStrings, plainKeyboard, rubberDucky, storageStick, unless } from '@portcullis/domain/testing'
import type { Agent, Command } from '@portcullis/features/contract.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, until } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'
import { startHosts } from './obedient-hosts.ts'

// The hostile host name comes from the host itself.
const hostileName = 'KIOSK-3<img src="x">'
const second = { userName: 'mia', password: 'another long password 1' }

describe('bulk actions on hosts', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let hosts: Awaited<ReturnType<typeof startHosts>>

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const keyboard = plainKeyboard({ portPath: '1-1' })
    hosts = await startHosts(server, [
      { name: 'KIOSK-1', devices: [keyboard, storageStick({ portPath: '1-2' })] },
      { name: 'KIOSK-2', devices: [keyboard, hostileStrings('html', { portPath: '1-3' })] },
      { name: hostileName, devices: [keyboard] },
      { name: 'OFFICE-1', devices: [keyboard, rubberDucky({ portPath: '1-2' })] },
    ])
  })
  afterAll(async () => {
    await hosts?.stop()
    await server?.stop()
  })

  const signedIn = (path: string, { userName, password } = { userName: 'admin', password: adminPassword }) =>
    openSignedIn(browser, server.url, path, { username: userName, password })
  const grid = (page: Page) => page.getByRole('grid')
  const row = (page: Page, text: string) => grid(page).getByRole('row').filter({ hasText: text })
  const tray = (page: Page) => page.getByRole('region', { name: 'Jobs' })
  const dialog = (page: Page) => page.getByRole('dialog')
  const selectAll = (page: Page) => page.getByLabel('Select all rows').click()
  const modes = async () =>
    Object.fromEntries(
      (await server.agents()).map(({ hostIdentifier, operationalStatus }: Agent) => [
        hostIdentifier,
        operationalStatus,
      ]),
    )
  const whenModes = (wanted: Record<string, string>) =>
    until(`the modes are ${JSON.stringify(wanted)}`, async () => {
      const now = await modes()
      return Object.entries(wanted).every(([name, mode]) => now[name] === mode)
    })

  it('arms exactly the hosts that match a filter after a preview, follows the job across pages, and undoes it', async () => {
    const { page, context, wrong } = await signedIn('/agents?HostIdentifier=KIOSK')
    await row(page, 'KIOSK-3').waitFor()
    await row(page, 'OFFICE-1').waitFor({ state: 'detached' })
    await selectAll(page)
    await page.getByText('All 3 matching rows selected').waitFor()
    await page.getByRole('button', { name: 'Arm…' }).click()
    // Without allow rules, the preview lists the keyboards, the stick and the unusual device.
    await dialog(page).getByText('5 attached devices on 3 hosts are not on the allowlist').waitFor()
    const revert = dialog(page).getByLabel('If a newly armed host cannot reach the server, return to Free after')
    expect(await revert.locator('option:checked').innerText()).toBe('Automatic: 10 minutes')
    await revert.selectOption('Never: it stays armed')
    await dialog(page).getByText('An attacker who cuts the network cannot free a host.').waitFor()
    await revert.selectOption('1 hour')
    await dialog(page)
      .getByRole('button', { name: /^Arm \d+ hosts?$/ })
      .click()
    await page.getByText('Arming 3 hosts.').waitFor()
    // The tray stays when the page changes, and shows the end of the job.
    await page.getByRole('link', { name: 'Events' }).click()
    await tray(page).getByText('Done, 3 of 3', { exact: true }).waitFor()
    await whenModes({ 'KIOSK-1': 'Armed', 'KIOSK-2': 'Armed', [hostileName]: 'Armed', 'OFFICE-1': 'Free' })

    await tray(page).getByRole('link', { name: 'commands' }).click()
    await page.waitForURL(/commands\?jobId=/)
    await row(page, 'KIOSK-1').getByText('Confirmed', { exact: true }).waitFor()
    await row(page, 'KIOSK-1').getByText('Arm (Free again without contact for 60 minutes)').waitFor()
    expect(await grid(page).getByRole('row').count()).toBe(4)

    await page.goto('/agents?HostIdentifier=KIOSK')
    await row(page, 'KIOSK-1').waitFor()
    await selectAll(page)
    await page.getByRole('button', { name: 'Free…' }).click()
    // The dialog to free several hosts focuses Cancel and needs a reason, which the audit trail records.
    await page.locator('[role=dialog] button:has-text("Cancel"):focus').waitFor()
    const free = dialog(page).getByRole('button', { name: 'Free', exact: true })
    await dialog(page).getByText('3 hosts', { exact: true }).waitFor()
    expect(await free.isDisabled()).toBe(true)
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('The kiosks move')
    await free.click()
    await until('the reason is in the audit trail', async () =>
      JSON.stringify(await server.get('events/GetAuditsIntegration?PageSize=50')).includes('reason: The kiosks move'),
    )
    await whenModes({ 'KIOSK-1': 'Free', 'KIOSK-2': 'Free', [hostileName]: 'Free' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await whenModes({ 'KIOSK-1': 'Armed', 'KIOSK-2': 'Armed', [hostileName]: 'Armed', 'OFFICE-1': 'Free' })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('exports a list with its filters, order and columns', async () => {
    const { page, context, wrong } = await signedIn(
      '/agents?HostIdentifier=KIOSK&sort=hostIdentifier_desc&cols=host,mode',
    )
    await row(page, 'KIOSK-3').waitFor()
    const take = async (kind: 'CSV' | 'CSV for programs' | 'PDF') => {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      await page.getByRole('menuitem', { name: kind, exact: true }).click()
      return readFile(await (await download).path())
    }
    const linesOf = (file: Buffer) => file.toString('utf8').replace('\ufeff', '').trimEnd().split('\r\n')
    expect(linesOf(await take('CSV for programs'))[0]).toBe('hostIdentifier,operationalStatus')
    expect(linesOf(await take('CSV'))).toEqual([
      'Host,Mode',
      `"${hostileName.replaceAll('"', '""')}",Armed`,
      'KIOSK-2,Armed',
      'KIOSK-1,Armed',
    ])
    await tray(page)
      .getByText(/^Saved, \d+ B/)
      .first()
      .waitFor()
    expect((await take('PDF')).subarray(0, 5).toString()).toBe('%PDF-')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('links an insight to its evidence and devices, and reloads it', async () => {
    const { page, context, wrong } = await signedIn('/insights')
    const table = page.getByRole('table', { name: 'Attack tools' })
    await table.getByText('suspected attack tool').waitFor()
    await page.getByRole('link', { name: 'Uncommon' }).click()
    await page.getByText('Uncommon devices cannot be identified').waitFor()
    const asked = page.waitForResponse((answer) => /UncommonPeripherals\/Reload/i.test(answer.url()))
    await page.getByRole('button', { name: 'Reload' }).click()
    expect((await asked).status()).toBe(200)
    await page.goBack()
    await table.getByRole('button').first().click()
    await page.getByRole('link', { name: 'Show devices with evidence' }).click()
    await page.waitForURL(/\/peripherals\?vid=/)
    await row(page, 'OFFICE-1').waitFor()
    expect(await row(page, 'KIOSK').count()).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('requests the log of a host and downloads it', async () => {
    const [host] = await server.agents('&HostIdentifier=OFFICE')
    const { page, context, wrong } = await signedIn(`/agents/${host?.uuid}?tab=logs`)
    await page.getByRole('button', { name: 'Collect logs' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('table', { name: 'Debug logs' }).getByRole('button', { name: 'Download' }).click()
    const file = await download
    expect(gunzipSync(await readFile(await file.path())).toString()).toBe('log of OFFICE-1\n')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('stores a request that a second approver approves', async () => {
    await server.post('admin/adduser', { userName: second.userName, password: second.password, userProfile: 10 })
    const policy = await server.get<{ settings: Record<string, unknown> }>('policy')
    await server.put('policy/settings', { ...policy.settings, twoPersonHosts: 2 })
    const { page, context, wrong } = await signedIn('/agents?HostIdentifier=KIOSK')
    await row(page, 'KIOSK-1').waitFor()
    await selectAll(page)
    await page.getByRole('button', { name: 'Free…' }).click()
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('The kiosks close')
    await dialog(page).getByRole('button', { name: 'Request approval' }).click()
    await page.getByRole('link', { name: 'Open request' }).click()
    await page.getByRole('button', { name: 'Withdraw' }).waitFor()
    expect(await page.getByRole('button', { name: 'Approve…' }).count()).toBe(0)
    expect(await modes()).toMatchObject({ 'KIOSK-1': 'Armed' })
    await context.close()

    const other = await signedIn('/', second)
    await other.page.getByRole('link', { name: '1 request awaits your approval' }).click()
    await other.page.getByRole('button', { name: 'Approve…' }).click()
    await dialog(other.page).getByText('Reason: The kiosks close').waitFor()
    await dialog(other.page).getByRole('button', { name: 'Approve request' }).click()
    await whenModes({ 'KIOSK-1': 'Free', 'KIOSK-2': 'Free', [hostileName]: 'Free' })
    await other.page.getByText('approved by mia').waitFor()
    expect([...wrong, ...other.wrong]).toEqual([])
    await other.context.close()
  })

  it('reports that a rule needs a second approver, and stores one request', async () => {
    const waiting = async () =>
      (await server.get<{ data: { state: string }[] }>('policy/changerequests')).data.filter(
        ({ state }) => state === 'Waiting',
      )
    const { page, context, wrong } = await signedIn('/policy')
    // Without a rule, the empty list offers the same button.
    await page.getByRole('button', { name: 'Add rule' }).first().click()
    const form = page.getByRole('form', { name: 'Add rule' })
    await form.getByRole('textbox', { name: 'Vendor ID' }).fill('0781')
    await form.getByRole('textbox', { name: 'Reason', exact: true }).fill('sticks of one vendor')
    await form.getByText('All hosts', { exact: true }).click()
    await form.getByText('This needs a second approver.').waitFor()
    await form.getByRole('button', { name: 'Request approval' }).click()
    await dialog(page).getByRole('button', { name: 'Request approval' }).click()
    await form.getByText('Waiting for a second approver').waitFor()
    expect(await form.getByRole('link', { name: 'Open request' }).count()).toBe(1)
    expect(await waiting()).toHaveLength(1)
    expect(await form.locator('button[type=submit]').count()).toBe(0)
    await page.keyboard.press('Control+Enter')
    await form.getByRole('button', { name: 'Close' }).click()
    await form.waitFor({ state: 'detached' })
    expect(await waiting()).toHaveLength(1)
    expect(wrong.filter((line) => !line.includes('403'))).toEqual([])
    await context.close()
  })

  it('a long request can be approved only after all of its lines were shown or downloaded', async () => {
    const rules = Array.from({ length: 250 }, (_, i) => ({
      ...{ effect: 'deny', vid: (0xa000 + i).toString(16).toUpperCase(), reason: 'harmless' },
    }))
    const wide = { effect: 'allow', kinds: ['Keyboard'], overrideAttackTool: true, reason: 'hidden' }
    await expect(server.post('generalconfig/document', { rules: [...rules, wide] })).rejects.toThrow('second approver')
    const { page, context, wrong } = await signedIn('/policy/requests', second)
    await page.locator('tr', { hasText: 'even a known attack tool' }).getByRole('button', { name: 'Approve…' }).click()
    const approve = dialog(page).getByRole('button', { name: 'Approve request' })
    await dialog(page).getByText('200 of 251 lines shown, widest effect first').waitFor()
    expect(await dialog(page).getByRole('listitem').first().innerText()).toContain('Allow every keyboard on every host')
    expect(await approve.isDisabled()).toBe(true)
    await dialog(page).getByRole('button', { name: 'Show more lines' }).click()
    await dialog(page).getByText('251 of 251 lines shown').waitFor()
    expect(await dialog(page).getByRole('listitem').count()).toBe(251)
    expect(await approve.isEnabled()).toBe(true)
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await page.locator('tr', { hasText: 'even a known attack tool' }).getByRole('button', { name: 'Approve…' }).click()
    const downloading = page.waitForEvent('download')
    await dialog(page).getByRole('button', { name: 'Download as a file' }).click()
    await downloading
    await dialog(page).getByText('To approve this request').waitFor({ state: 'detached' })
    await vi.waitFor(async () => expect(await approve.isEnabled()).toBe(true), 5_000)
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('offers no second start of a rollout that waits for a second approver', async () => {
    const { page, context } = await signedIn('/rollouts/new')
    await page.route('**/rollouts/start', (route) =>
      route.fulfill({
        status: 403,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'second_person_required', detail: 'Request 1 waits for a second approver.' }),
      }),
    )
    await page.getByLabel('Name', { exact: true }).fill('Kiosks first')
    await page.getByRole('table', { name: 'Rings' }).getByText('All remaining hosts').waitFor()
    await page.getByRole('button', { name: 'Start rollout…' }).click()
    await dialog(page).getByRole('button', { name: 'Start rollout' }).click()
    await dialog(page).getByText('Waiting for a second approver').waitFor()
    expect(await dialog(page).getByRole('button', { name: 'Start rollout' }).count()).toBe(0)
    await dialog(page).getByRole('button', { name: 'Close' }).last().click()
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByText('Waiting for a second approver').waitFor()
    expect(await page.getByRole('link', { name: 'Open request' }).count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Start rollout…' }).count()).toBe(0)
    // A different plan is a different request.
    await page.getByLabel('Name', { exact: true }).fill('Kiosks second')
    await page.getByRole('button', { name: 'Start rollout…' }).waitFor()
    await context.close()
  })

  it('starts a rollout after its plan, and shows its first ring', async () => {
    const { page, context, wrong } = await signedIn('/rollouts/new')
    await page.getByLabel('Name', { exact: true }).fill('Kiosks first')
    await page.getByRole('table', { name: 'Rings' }).getByText('All remaining hosts').waitFor()
    await page.getByRole('button', { name: 'Start rollout…' }).click()
    await dialog(page).getByRole('button', { name: 'Start rollout' }).click()
    await page.waitForURL(/\/rollouts\/[0-9a-f-]{36}/)
    await page.getByRole('heading', { name: 'Kiosks first' }).waitFor()
    // The first ring has one of four hosts. The others wait for it.
    await page.getByText(/^(In progress|Done): 1$/).waitFor()
    expect(await page.getByText('The hosts are selected when the ring starts.').count()).toBe(2)
    const id = new URL(page.url()).pathname.split('/').at(-1)
    await until('its host is armed', async () => {
      const { data } = await server.get<{ data: Command[] }>(`agents/commands?jobId=${id}`)
      return data.length === 1 && data[0]?.state === 'confirmed'
    })
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows untrusted text of hosts and devices without markup on every page', async () => {
    const { page, context, wrong } = await signedIn('/')
    for (const path of [
      '/commands',
      '/insights?tab=violations',
      '/insights?tab=spoofed',
      '/rollouts',
      '/settings/packages',
      '/settings/knowledge',
    ]) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' })
      if (path === '/commands') await row(page, hostileName).first().waitFor()
      expect(await page.locator('img[src="x"]').count(), path).toBe(0)
      expect(
        await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth'),
        path,
      ).toBeLessThanOrEqual(0)
    }
    expect(wrong).toEqual([])
    await context.close()
  })
})
