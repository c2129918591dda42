import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import type { ReportRun, ReportSchedule } from '@portcullis/features/contract.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const hostile = '<img src=x onerror=alert(1)> "weekly"'

describe('reports', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  // All tests share one window, because signing in takes a third of the time.
  let page: Page
  let wrong: string[]

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    // The members of a test app that the builder uses if it has a token.
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    await enrolAgent(at, { token, devices: [plainKeyboard({ portPath: '1-1' })], facts: { hostname: 'front-desk' } })
    await enrolAgent(at, { token, devices: [storageStick()], facts: { hostname: 'kiosk-0413' } })
    ;({ page, wrong } = await openWindow(browser, server.url, 1440, 900))
    await page.goto('/reports')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
  })
  afterEach(() => expect(wrong.splice(0)).toEqual([]))
  afterAll(async () => {
    await server?.stop()
  })

  const preview = () => page.getByRole('region', { name: 'Preview' })
  const row = (text: string) =>
    page.getByRole('table', { name: 'Schedules' }).getByRole('row').filter({ hasText: text })
  const schedules = async () => (await server.get<{ data: ReportSchedule[] }>('reports/schedules')).data
  const drawer = () => page.getByRole('complementary', { name: 'Run' })
  const choose = async (label: string, option: string, typed: string) => {
    await page.getByRole('combobox', { name: label, exact: true }).fill(typed)
    await page.getByRole('option', { name: option, exact: true }).click()
  }

  it('begin with an empty page that explains them', async () => {
    await page.getByText('No scheduled reports').waitFor()
    await page.getByRole('link', { name: 'New schedule' }).click()
    await page.waitForURL('/reports/new')
    await preview().getByText('2 rows if run now').waitFor()
  })

  it('are scheduled from a list with its current filter, and show a preview', async () => {
    await page.goto('/agents?HostIdentifier=kiosk')
    await page.getByText('kiosk-0413').first().waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: 'Schedule report…' }).click()
    await page.waitForURL(/\/reports\/new\?list=agents&filter\.hostIdentifier=kiosk/)
    await preview().getByText('1 row if run now').waitFor()
    expect(await page.getByLabel('Host name', { exact: true }).inputValue()).toBe('kiosk')

    const save = page.getByRole('button', { name: 'Schedule report' })
    expect(await save.isDisabled()).toBe(true)
    await page.getByRole('textbox', { name: /^Name/ }).fill(hostile)
    await page.getByText('Monthly', { exact: true }).click()
    await page.getByLabel('Day of the month').fill('31')
    await page.getByLabel('Time', { exact: true }).fill('06:30')
    await choose('Time zone', 'Europe/Berlin', 'Berlin')
    await preview().getByText(/06:30/).first().waitFor()
    expect(await preview().getByRole('listitem').count()).toBe(5)
    await page.getByLabel('Folder', { exact: true }).fill('../etc')
    await save.click()
    await page.getByText('Use only letters, digits, _ and -').waitFor()
    expect(await schedules()).toEqual([])
    await page.getByLabel('Folder', { exact: true }).fill('audits')
    await save.click()
    await page.waitForURL('/reports')
    await row('weekly').getByText('on the last day of each month at 06:30').waitFor()
    expect(await row('weekly').textContent()).toContain(hostile)
    expect(await schedules()).toMatchObject([
      {
        name: hostile,
        list: 'agents',
        filter: { hostIdentifier: 'kiosk' },
        folder: 'audits',
        format: 'csv',
        range: 'all',
      },
    ])
  })

  it('run now, and their file is shown in the history and downloaded', async () => {
    await row('weekly').getByRole('button', { name: 'Run now' }).click()
    await page.getByText('is running').waitFor()
    // The list updates without a reload.
    await row('weekly').getByRole('link', { name: 'Completed' }).click()
    await page.waitForURL(/\/reports\/history\?run=/)
    await drawer().getByText('audits/').waitFor()
    expect(await drawer().getByRole('listitem').textContent()).toMatch(/^Folder audits\/.*delivered/)
    const [file = ''] = readdirSync(join(server.dataDir, 'reports', 'audits'))
    expect(file).toMatch(/^img-src-x-onerror-alert-1-weekly-.*\.csv$/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      drawer().getByRole('button', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(file)
    const bytes = readFileSync((await download.path()) as string)
    expect(bytes.equals(readFileSync(join(server.dataDir, 'reports', 'audits', file)))).toBe(true)
    expect(bytes.toString('utf8')).toContain('kiosk-0413')
    expect(bytes.toString('utf8')).not.toContain('front-desk')
    // The address that a mail links to.
    const [run] = (await server.get<{ data: ReportRun[] }>('reports/runs')).data
    await page.goto(`/reports/history?run=${run?.id}`)
    await drawer().getByText(file, { exact: true }).waitFor()
    await page.keyboard.press('Escape')
  })

  it('show the reason of a failure in the list and in the history', async () => {
    await page.goto('/reports')
    await row('weekly').getByRole('link', { name: 'weekly' }).click()
    await page.getByRole('combobox', { name: 'Email to' }).fill('ada@example.org')
    await page.keyboard.press('Enter')
    await page.getByText('No mail server is set up').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.waitForURL('/reports')
    await row('weekly').getByText('ada@example.org, folder audits').waitFor()
    await row('weekly').getByRole('button', { name: 'Run now' }).click()
    await row('weekly').getByRole('link', { name: 'Completed, not delivered' }).click()
    await drawer().getByText('No mail server is configured. Configure one under Settings, Mail.').waitFor()
  })

  it('of insights are exported at once or scheduled', async () => {
    await page.goto('/insights?tab=violations')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as CSV', exact: true }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^violations-.*\.csv$/)
    expect(readFileSync((await download.path()) as string, 'utf8')).toMatch(
      /^\ufeffVendor ID,Product ID,Serial number,/,
    )
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Schedule report…' }).click()
    await page.waitForURL('/reports/new?list=violations')
    await preview().getByText('0 rows if run now').waitFor()
    await page.getByText('This list has no filters.').waitFor()
  })

  it('are deleted after a confirmation, and their history stays', async () => {
    await page.goto('/reports')
    await row('weekly')
      .getByRole('button', { name: /^More actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No scheduled reports').waitFor()
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await page.getByRole('grid', { name: 'Runs' }).getByRole('row').filter({ hasText: 'weekly' }).first().waitFor()
  })
})
