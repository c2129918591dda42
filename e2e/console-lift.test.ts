import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { unless } from '@portcullis/domain/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, type RunningServer, remove, startServer } from '../proof/kit/harness.ts'
import { serverDir } from './prepared.ts'

describe('lifted second approver', unless(whyNoChromium), () => {
  let server: RunningServer
  let browser: Browser
  const dir = serverDir()

  beforeAll(async () => {
    server = await startServer(dir)
    await server.stop()
    execFileSync(
      process.execPath,
      [
        fileURLToPath(new URL('../server/src/entry/recovery.ts', import.meta.url)),
        'lift-second-approver',
        '--minutes',
        '30',
      ],
      { env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', PORTCULLIS_DATA_DIR: dir } },
    )
    server = await startServer(dir)
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
    remove(dir)
  })

  it('shows Administrators a banner on every page, and ends early', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    const mark = page.getByRole('region', { name: 'Second approver not required' })
    for (const path of ['/', '/events', '/settings/audit', '/policy/requests']) {
      await page.goto(path)
      await mark.getByText(/No second approver is required until/).waitFor()
    }
    await mark.getByRole('button', { name: 'Require second approver now' }).click()
    await page.getByText('Second approver required again.').waitFor()
    await mark.waitFor({ state: 'detached' })
    const { twoPerson } = await server.get<{ twoPerson: { liftedUntil: string | null } }>('policy')
    expect(twoPerson.liftedUntil).toBeNull()
    expect(wrong).toEqual([])
    await context.close()
  })
})
