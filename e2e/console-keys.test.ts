import { unless } from '@portcullis/domain/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser, openWindow, whyNoChromium } from './browser.ts'
import { adminPassword, type RunningServer, remove, startServer } from './harness.ts'
import { serverDir } from './prepared.ts'

describe('keyboard shortcuts', unless(whyNoChromium), () => {
  let server: RunningServer
  let browser: Browser
  const dir = serverDir()

  beforeAll(async () => {
    server = await startServer(dir)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    remove(dir)
  })

  it('do not fire while a filter is typed', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/peripherals')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Vendor', exact: true }).click()
    const field = page.getByLabel('Vendor contains')
    await page.locator('input:focus').waitFor()
    // Each of these letters is or begins a shortcut: `g s` opens the settings, `/` the search, `?` the help.
    await page.keyboard.type('Kingston g s /? xgs')
    expect(await field.inputValue()).toBe('Kingston g s /? xgs')
    expect(new URL(page.url()).pathname).toBe('/peripherals')
    await page.keyboard.press('Enter')
    await page.waitForURL(/Vendor=Kingston|vendor=Kingston/)
    expect(wrong).toEqual([])
    await context.close()
  })
})
