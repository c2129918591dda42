import { unless } from '@portcullis/domain/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('keyboard shortcuts', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })

  it('do not fire while a filter is typed', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/peripherals')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Vendor', exact: true }).click()
    const field = page.getByRole('combobox', { name: 'Vendor contains' })
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
