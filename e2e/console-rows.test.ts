import { unless } from '@portcullis/domain/testing'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { enrolDesk, settled } from './console-pages.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

/** Lists, and where a click on their first row leads: to the panel of the row, or to its page if it has no panel. */
const lists: readonly [path: string, table: string, opens: RegExp][] = [
  ['/agents', 'Hosts', /\/agents\?open=/],
  ['/agentless', 'Agentless hosts', /\/agentless\?open=/],
  ['/peripherals', 'Devices', /\/peripherals\?open=/],
  ['/peripherals/models', 'Models', /\/peripherals\/models\/\w{4}:\w{4}$/],
  ['/insights', 'Attack tools', /\/insights/],
  ['/rollouts', 'Rollouts', /\/rollouts\/[\w-]+$/],
  ['/commands', 'Commands', /\/agents\/[\w-]+\?tab=commands/],
  ['/policy', 'Rules', /\/policy\?open=/],
  ['/policy/grants', 'Grants', /\/policy\/grants\?open=/],
  ['/policy/simulator', 'Outcome of arming', /\/peripherals\/[\w-]+/],
  ['/reports', 'Schedules', /\/reports\/[\w-]+$/],
  ['/reports/history', 'Runs', /\/reports\/history\?open=/],
  ['/events', 'Events', /\/events\?open=/],
  ['/alerts', 'Risk alerts', /\/alerts\?open=/],
  ['/settings/accounts', 'Accounts', /\/settings\/accounts\?open=/],
  ['/settings/tags', 'Tags', /\/agents\?Hashtags=/],
  ['/settings/assets', 'Newest messages', /\/settings\/assets\?message=/],
  ['/settings/health', 'Parts', /\/settings\/health\/history\?subsystem=/],
]

describe('the rows of every list', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const host = await enrolDesk(server)
    await server.post('policy/rules', { effect: 'allow', vid: '0781', reason: 'sticks of the office' })
    await server.post('policy/grants', {
      vid: '0951',
      reason: 'one day',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    })
    await server.post('generalconfig/addhashtags', { hashtags: ['kiosk'] })
    await server.post('admin/adduser', { userName: 'ada', userProfile: 30 })
    await server.post('agents/agentless/connectiondetails', {
      computerName: 'scanner',
      userName: 'poll',
      password: 'p',
    })
    await server.post('agents/fetchagentsdebuglogs', [host])
    await server.post('rollouts/start', { kind: 'arm', name: 'pilot', rings: [{ name: 'all', sharePercent: 100 }] })
    const schedule = await server.post<{ id: string }>('reports/schedules', {
      name: 'weekly',
      list: 'agents',
      format: 'csv',
      range: 'all',
      cadence: { every: 'day', time: '06:00', timeZone: 'UTC' },
      recipients: [],
      folder: null,
      keepFiles: 3,
      isEnabled: true,
    })
    await server.post(`reports/schedules/${schedule.id}/run`, undefined)
    ;({ page } = await openSignedIn(browser, server.url, '/settings/profile'))
  })
  afterAll(async () => {
    await server?.stop()
  })

  /** The first row of a list with its cells; the cell of a checkbox is not one of them. */
  const firstRow = async (name: string): Promise<{ row: Locator; cells: Locator; box: Locator }> => {
    const list = page.getByRole('grid', { name, exact: true }).or(page.getByRole('table', { name, exact: true }))
    const row = list
      .getByRole('row')
      .filter({ hasNot: page.getByRole('columnheader') })
      .first()
    await row.getByRole('link').or(row.getByRole('button')).first().waitFor()
    const box = row.getByRole('checkbox')
    const cells = row.locator('[role=gridcell], td').filter({ hasNot: page.getByRole('checkbox') })
    return { row, cells, box }
  }
  /** The state of the page that opening a row changes. */
  const shown = async (row: Locator): Promise<string> =>
    `${page.url()} ${await row.getByRole('button', { expanded: true }).count()}`

  it.each(lists)('of %s open by a click, and their first cell does the same as a link', async (path, name, opens) => {
    await page.goto(path)
    await settled(page)
    const { row, cells, box } = await firstRow(name)
    // A cell cuts off what is taller than its row.
    expect(await cells.evaluateAll((all) => all.some((one) => one.scrollHeight > one.clientHeight + 1))).toBe(false)
    const before = await shown(row)
    if ((await box.count()) > 0) {
      await box.first().click()
      expect(await shown(row)).toBe(before)
      await box.first().click()
    }
    // The edge of a cell belongs to the row, not to what the cell holds.
    await cells.nth(1).click({ position: { x: 2, y: 3 } })
    await expect.poll(() => shown(row)).not.toBe(before)
    expect(page.url()).toMatch(opens)

    await page.goto(path)
    await settled(page)
    const again = await firstRow(name)
    // An alert begins with its severity.
    const first = path === '/alerts' ? again.row : again.cells.first()
    const link = first.getByRole('link')
    if ((await link.count()) === 0) {
      // A row that unfolds in place has a button.
      await first.getByRole('button', { expanded: false }).waitFor()
      return
    }
    expect(await link.first().getAttribute('href')).toMatch(/^\//)
    await link.first().click()
    await expect.poll(() => page.url()).not.toMatch(new RegExp(`${path}$`))
  })
})
