import { mkdirSync } from 'node:fs'
import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const shots = process.env.PORTCULLIS_SHOTS
const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** What overflows its parent sideways. Codes and lists of pages may scroll on their own. */
const wide = `[...document.querySelectorAll('body, main, main *:not(nav, nav *, code, pre)')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX))
  .map((one) => one.tagName + '.' + one.className)`

describe('the audit trail in the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let desk: TestAgent

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const hosts: TestAgent[] = []
    for (const hostname of ['front-desk', '<img src=x onerror=alert(1)>\u202e'])
      hosts.push(
        await enrolAgent(at, {
          token: await server.enrolmentToken(),
          facts: { hostname },
          devices: [plainKeyboard({ portPath: '1-1' }), storageStick({ portPath: '1-2' })],
        }),
      )
    desk = hosts[0] as TestAgent
    await server.post('policy/decisions', {
      decision: 'allow',
      reason: 'Ticket 4711',
      devices: [{ uuid: desk.agentId, vid: '0781', pid: '5581' }],
    })
    await server.post('agents/configuration', [
      { uuid: desk.agentId, hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed: 'ARM' } },
    ])
    await server.post('generalconfig/addhashtags', {
      hashtags: ['kiosk'],
      elementIds: hosts.map(({ agentId }) => agentId),
      entityType: 'Agent',
    })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })
  const grid = (page: Page) => page.getByRole('grid', { name: 'Audit trail' })
  const shoot = async (page: Page, name: string): Promise<void> => {
    if (shots === undefined) return
    mkdirSync(shots, { recursive: true })
    await page.screenshot({ path: `${shots}/${name}.png` })
  }

  it('says in words who did what, with links to objects and without ids', async () => {
    const { page, context, wrong } = await open('/settings/audit')
    await grid(page).getByText('admin armed front-desk').waitFor()
    await grid(page)
      .getByText(/^admin approved .*\(0781:5581\) on front-desk/)
      .waitFor()
    await grid(page).getByText('admin added tag kiosk to 2 hosts').waitFor()
    await grid(page).getByText('Reason: Ticket 4711').waitFor()
    await grid(page).getByText('Host front-desk enrolled').waitFor()
    const lines = await grid(page).getByRole('row').allInnerTexts()
    expect(lines.filter((line) => uuid.test(line) || /[{}]|\w+\.\w+ed\b/.test(line))).toEqual([])
    const row = grid(page).getByRole('row', { name: 'admin armed front-desk' })
    expect(await row.getByRole('link', { name: 'front-desk' }).getAttribute('href')).toBe(`/agents/${desk.agentId}`)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('filters by person, action, host, time and text, all in the address', async () => {
    const { page, context, wrong } = await open('/settings/audit?q=4711')
    await grid(page)
      .getByText(/^admin approved/)
      .waitFor()
    await expect.poll(() => grid(page).getByRole('row').count()).toBe(2)
    await page.goto('/settings/audit')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('menuitem', { name: 'Action' }).click()
    await page.getByRole('dialog', { name: 'Action' }).getByText('Hosts and agents', { exact: true }).waitFor()
    await page.getByRole('checkbox', { name: 'Command sent' }).check()
    await page.waitForURL(/actions=command\.ordered/)
    await expect.poll(() => grid(page).getByRole('row').count()).toBe(2)
    await page.goto('/settings/audit?person=admin&host=front-desk&time=2031-01-01..')
    await page.getByText('No rows match').or(page.getByText(/match/)).first().waitFor()
    await page.goto(`/settings/audit?person=admin&host=${desk.agentId}&area=hosts,policy`)
    await grid(page).getByText('admin armed front-desk').waitFor()
    await expect.poll(() => grid(page).getByText('Host front-desk enrolled').count()).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('moves with j and k, opens the details with Enter and closes them with Escape', async () => {
    const { page, context, wrong } = await open('/settings/audit?q=4711')
    await grid(page)
      .getByText(/^admin approved/)
      .waitFor()
    await grid(page).focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'Audit record' })
    await panel
      .getByRole('heading', { level: 2 })
      .getByText(/^admin approved/)
      .waitFor()
    await panel.getByText('127.0.0.1', { exact: true }).waitFor()
    await panel.getByText('Session in the console').waitFor()
    await panel
      .getByText(/^[0-9a-f]{32}$/)
      .first()
      .waitFor()
    await shoot(page, 'panel-1440')
    await panel.getByText('Exact record').click()
    await panel.getByText(/"action":"peripheral\.approved"/).waitFor()
    await shoot(page, 'exact-1440')
    await panel.getByRole('link', { name: 'Everything admin did on that day' }).click()
    await page.waitForURL(/person=admin/)
    await grid(page).getByText('admin armed front-desk').waitFor()
    await page.goBack()
    await panel.waitFor()
    await grid(page).focus()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows the values before and after a change', async () => {
    await server.post('admin/adduser', { userName: 'ana.novak', userProfile: 30 })
    await server.post('admin/updateuser', { userName: 'ana.novak', userProfile: 20 })
    const { page, context, wrong } = await open('/settings/audit?account=ana.novak&actions=account.changed')
    await grid(page).getByText('admin changed account ana.novak').click()
    const changes = page.getByRole('region', { name: 'What changed' })
    await changes.getByText('Profile').waitFor()
    expect(await changes.innerText()).toMatch(/User → Manager/)
    expect(wrong).toEqual([])
    await context.close()
  })

  it.each([1440, 1024, 390])('does not scroll sideways at %i px, with or without a record', async (width) => {
    const { page, context, wrong } = await open('/settings/audit', width)
    for (const scheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      await page.goto('/settings/audit')
      await grid(page).getByText('admin added tag kiosk to 2 hosts').waitFor()
      await shoot(page, `list-${width}-${scheme}`)
      expect(await page.evaluate(wide), `${width}`).toEqual([])
      await grid(page).getByText('admin armed').click()
      await page.getByRole('complementary', { name: 'Audit record' }).getByRole('heading', { level: 2 }).waitFor()
      await shoot(page, `record-${width}-${scheme}`)
      expect(await page.evaluate(wide), `${width} with a record`).toEqual([])
    }
    expect(wrong).toEqual([])
    await context.close()
  })
})
