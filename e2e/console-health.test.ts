import { createPublicKey } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointKeyId, verifyTrail } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import type { AuditStatus, HealthChange } from '@portcullis/features/contract.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, until } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('health', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let page: Page
  let wrong: string[]

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    ;({ page, wrong } = await openWindow(browser, server.url, 1440, 900))
    await page.goto('/settings/health')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
  })
  afterEach(() => expect(wrong.splice(0)).toEqual([]))
  afterAll(async () => {
    await server?.stop()
  })

  const part = (name: string) =>
    page
      .getByRole('table', { name: 'Parts' })
      .getByRole('row')
      .filter({ has: page.getByText(name, { exact: true }) })

  it('shows every part with its probe, and how to set one up', async () => {
    await part('database').getByText('OK', { exact: true }).waitFor()
    await part('database')
      .getByText(/^Answers in/)
      .waitFor()
    await part('job queue')
      .getByText(/takes? jobs/)
      .first()
      .waitFor()
    await part('mail').getByText('Not configured', { exact: true }).waitFor()
    await part('mail').getByRole('link', { name: 'Open' }).click()
    await page.waitForURL('/settings/mail')
    await page.goBack()
    await page.getByRole('region', { name: 'Monitoring' }).getByText(`curl -i ${server.url}/readyz`).waitFor()
  })

  it('shows up to which record the audit trail is signed, and exports the trail', async () => {
    await part('audit').getByText('OK', { exact: true }).waitFor()
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Audit trail' }).click()
    await page.waitForURL('/settings/audit')
    const checkpoints = page.getByRole('region', { name: 'Checkpoints' })
    await checkpoints.getByText(/^\d+ of \d+ records, by checkpoint 1/).waitFor({ timeout: 60_000 })
    await checkpoints.getByText('complete, outside the database').waitFor()
    const status = await server.get<AuditStatus>('admin/audit')
    await checkpoints.getByText(status.keyId).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export for verification' }).click(),
    ])
    const trail = readFileSync(await download.path())
    const sink = join(server.dataDir, 'audit-checkpoints')
    const key = createPublicKey(status.publicKey)
    const checkpointsOf = readdirSync(sink).filter((name) => name.endsWith('.jsonl'))
    expect(
      await verifyTrail([trail], {
        bytes: checkpointsOf.map((name) => readFileSync(join(sink, name))),
        keys: new Map([[checkpointKeyId(key), key]]),
      }),
    ).toMatchObject({ ok: true, covered: { number: 1 } })
    await page.goto('/settings/health')
  })

  it('lets an Administrator change a threshold, and shows the changed state live with its cure', async () => {
    await page.getByRole('region', { name: 'Thresholds' }).getByRole('link', { name: 'Edit' }).click()
    await page.waitForURL('/settings/thresholds')
    await page.getByLabel('Disk: warning (GB)').fill('1000000')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/^Saved as version/).waitFor()
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Health and version' }).click()
    await page.waitForURL('/settings/health')
    await page.getByRole('region', { name: 'Thresholds' }).getByText('1,000,000 GB').waitFor()
    // Two probes, 15 s apart, without any input on the page.
    await part('disk').getByText('Warning', { exact: true }).waitFor({ timeout: 60_000 })
    await part('disk').getByText('free space', { exact: false }).waitFor()
    const { value: change } = await until(
      'the change of the disk',
      async () => (await server.get<{ data: HealthChange[] }>('admin/healthhistory?subsystem=disk')).data[0],
      60_000,
    )
    expect(change).toMatchObject({ status: 'Warning', endedAt: null })
    await page.getByRole('img', { name: /^disk: .*1 × Warning$/ }).waitFor({ timeout: 60_000 })
  })

  it('keeps the view of the history in the address', async () => {
    await page.getByRole('link', { name: /^disk: / }).click()
    await page.waitForURL('/settings/health/history?subsystem=disk')
    const row = page.getByRole('grid', { name: 'Changes' }).getByRole('row').filter({ hasText: 'GB free' })
    await row.getByText('Warning', { exact: true }).waitFor()
    await row.getByText('ongoing').waitFor()
    await page.goto('/settings/health/history?subsystem=mail')
    await page.getByText('No rows match', { exact: false }).first().waitFor()
    await page.goto('/settings/health?days=30')
    expect(await page.getByRole('radio', { name: '30 days' }).isChecked()).toBe(true)
    await page.getByText('90 days', { exact: true }).click()
    await page.waitForURL('/settings/health?days=90')
  })

  it('fits a small window in dark mode', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 1024, height: 768 })
    await part('database').getByText('OK', { exact: true }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })
})
