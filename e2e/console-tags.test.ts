import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import type { Agent } from '@portcullis/features/contract.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { until } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'
import { startHosts } from './obedient-hosts.ts'

const base = 'generalconfig'
const stick = { vid: '0781', pid: '5581' }

describe('tags that allow devices', unless(whyNoChromium), () => {
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
    await server.post(`${base}/addhashtags`, { hashtags: ['trusted'] })
    await server.post('policy/rules', { effect: 'allow', ...stick, tag: 'trusted', reason: 'sticks of the lab' })
  })
  afterAll(async () => {
    await hosts?.stop()
    await server?.stop()
  })

  const open = (path: string) => openSignedIn(browser, server.url, path)
  const dialog = (page: Page) => page.getByRole('dialog')
  const uuids = async () => (await server.agents()).map(({ uuid }: Agent) => uuid)
  const carriers = async (name: string) =>
    (await server.get<{ name: string; agentsCount: number }[]>(`${base}/gethashtags`)).find((tag) => tag.name === name)
      ?.agentsCount
  const trail = async () => JSON.stringify(await server.get('events/GetAuditsIntegration?PageSize=50'))
  const cancelFocused = (page: Page) => page.locator('[role=dialog] button:has-text("Cancel"):focus').waitFor()

  it('asks for a reason before a tag allows devices on two hosts', async () => {
    const { page, context, wrong } = await open('/agents')
    await page.getByRole('grid').getByText('LAB-2').waitFor()
    await page.getByLabel('Select all rows').click()
    await page.getByRole('button', { name: 'Tag…' }).click()
    await page.getByLabel('Tags to add').first().fill('trusted')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('button', { name: 'Save', exact: true }).click()
    await dialog(page).getByText('This change newly allows devices on 2 hosts.').waitFor()
    await cancelFocused(page)
    const save = dialog(page).getByRole('button', { name: 'Save and allow' })
    expect(await save.isDisabled()).toBe(true)
    expect(await carriers('trusted')).toBe(0)
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('The lab copies its data')
    await save.click()
    await page.getByText('Tags added to 2 items.').waitFor()
    expect(await carriers('trusted')).toBe(2)
    expect(await trail()).toContain('reason: The lab copies its data')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('removes a tag with one click, and asks before the undo allows the devices again', async () => {
    const [uuid] = await uuids()
    const { page, context, wrong } = await open(`/agents/${uuid}`)
    await page.getByRole('button', { name: 'Edit tags' }).click()
    await page.getByLabel('Tags', { exact: true }).first().focus()
    await page.keyboard.press('Backspace')
    await dialog(page).getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Tags changed.').waitFor()
    expect(await carriers('trusted')).toBe(1)
    await page.getByRole('button', { name: 'Undo' }).click()
    await dialog(page).getByText('This change newly allows devices on 1 host.').waitFor()
    await cancelFocused(page)
    expect(await carriers('trusted')).toBe(1)
    await dialog(page).getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    expect(await carriers('trusted')).toBe(2)
    // A change that only blocks is undone with one click.
    await server.post(`${base}/deletehashtags`, { hashtags: ['trusted'], elementIds: [uuid] })
    await page.reload()
    await page.getByRole('button', { name: 'Add tags' }).click()
    await page.getByLabel('Tags', { exact: true }).first().fill('trusted')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('button', { name: 'Save', exact: true }).click()
    await dialog(page).getByText('This change newly allows devices on 1 host.').waitFor()
    await cancelFocused(page)
    await dialog(page).getByRole('button', { name: 'Save and allow' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    expect(await carriers('trusted')).toBe(1)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('asks for a reason before a tag file allows devices on two hosts', async () => {
    const ids = await uuids()
    await server.post(`${base}/deletehashtags`, { hashtags: ['trusted'], elementIds: ids })
    const { page, context, wrong } = await open('/settings/tags')
    await page.getByRole('button', { name: 'More' }).click()
    const lines = ['Type,Identifier,Name,Tags', ...ids.map((id) => `Agent,${id},,trusted`)]
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'tags.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) })
    await dialog(page).getByText('This change newly allows devices on 2 hosts.').waitFor()
    await cancelFocused(page)
    const run = dialog(page).getByRole('button', { name: 'Import 2 lines' })
    expect(await run.isDisabled()).toBe(true)
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('The file of the lab')
    await run.click()
    await dialog(page).getByText('2 lines imported').waitFor()
    expect(await carriers('trusted')).toBe(2)
    expect(await trail()).toContain('reason: The file of the lab')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('asks for a reason before the deletion of a tag ends a deny on two hosts', async () => {
    await server.post(`${base}/addhashtags`, { hashtags: ['closed'], elementIds: await uuids() })
    await server.post('policy/rules', { effect: 'deny', ...stick, tag: 'closed', reason: 'no sticks here' })
    const { page, context, wrong } = await open('/settings/tags')
    const row = page.getByRole('table', { name: 'Tags' }).getByRole('row').filter({ hasText: 'closed' })
    await row.getByRole('button', { name: 'Delete…' }).click()
    await dialog(page).getByText('This change newly allows devices on 2 hosts.').waitFor()
    await cancelFocused(page)
    const run = dialog(page).getByRole('button', { name: 'Delete tag', exact: true })
    expect(await run.isDisabled()).toBe(true)
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('The lab is open again')
    await run.click()
    await row.waitFor({ state: 'detached' })
    expect(await trail()).toContain('reason: The lab is open again')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('asks for a reason before the tags of uploaded agentless hosts allow devices on two hosts', async () => {
    const { page, context, wrong } = await open('/agentless')
    const report = { added: 0, updated: 2, failed: 0, errors: [], lines: [], secondPerson: false }
    let sent = ''
    await page.route('**/uploadconnectiondetailsfile*', (route) => {
      const isDry = route.request().url().includes('dryRun=true')
      if (!isDry) sent = decodeURIComponent(route.request().url().replaceAll('+', ' '))
      return route.fulfill({ json: isDry ? { ...report, newlyAllowed: 2 } : report })
    })
    await page.getByRole('button', { name: 'Upload file…' }).first().click()
    await cancelFocused(page)
    await dialog(page)
      .locator('input[type=file]')
      .setInputFiles({ name: 'computers.csv', mimeType: 'text/csv', buffer: Buffer.from('ComputerName,Tags\n') })
    await dialog(page).getByText('This change newly allows devices on 2 hosts.').waitFor()
    const run = dialog(page).getByRole('button', { name: 'Save 2 hosts' })
    expect(await run.isDisabled()).toBe(true)
    await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('The lab is open')
    await run.click()
    await until('the file is sent', async () => sent.includes('reason=The lab is open'))
    expect(wrong).toEqual([])
    await context.close()
  })

  it('asks before the tags of one agentless host allow its devices', async () => {
    const ids = await uuids()
    await server.post(`${base}/deletehashtags`, { hashtags: ['trusted'], elementIds: ids })
    await server.post('agents/agentless/connectiondetails', { computerName: 'lab-1.example' })
    const { page, context, wrong } = await open('/agentless')
    // As after a poll that found the host of an agent.
    await page.route('**/agentless/connectiondetails?*', async (route) => {
      const answer = await route.fetch()
      const { data, ...rest } = await answer.json()
      await route.fulfill({ json: { ...rest, data: data.map((one: object) => ({ ...one, uuid: ids[0] })) } })
    })
    await page.getByText('lab-1.example').first().click()
    const drawer = page.getByRole('complementary', { name: 'Agentless host' })
    await drawer.getByLabel('Tags').first().fill('trusted')
    await page.keyboard.press('Enter')
    await drawer.getByRole('button', { name: 'Save', exact: true }).click()
    await drawer.getByText('This change newly allows devices on 1 host.').waitFor()
    await until('the focus is on the button that changes nothing', () =>
      drawer
        .getByRole('button', { name: 'Close', exact: true })
        .last()
        .evaluate((button) => button.matches(':focus')),
    )
    await drawer.getByRole('button', { name: 'Save and allow' }).click()
    await page.getByText('Saved. The host is polled again.').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    expect(wrong).toEqual([])
    await context.close()
  })
})
