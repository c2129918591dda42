import { unless } from '@portcullis/domain/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { launchBrowser, openWindow, whyNoChromium } from './browser.ts'
import { adminPassword, type RunningServer, remove, startServer } from './harness.ts'
import { serverDir } from './prepared.ts'

describe('enrolment tokens in the console', unless(whyNoChromium), () => {
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

  it('limits a token to listed hosts and names the missing ones', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/settings/enrolment')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const names = page.getByLabel('Only these hosts (optional)')
    await names.fill('pc-7-001\npc<7>002')
    await page.getByRole('button', { name: 'Create install command' }).click()
    await page.getByText('These host names are invalid: pc<7>002').waitFor()
    await names.fill('pc-7-001, PC-7-001\n\npc-7-002')
    await expect.poll(() => page.getByLabel('Host limit').inputValue()).toBe('2')
    expect(await page.getByLabel('Host limit').isDisabled()).toBe(true)
    expect(await page.getByLabel('Purpose').inputValue()).toBe('2 new hosts')
    await page.getByRole('button', { name: 'Create install command' }).click()
    const status = page.getByRole('status').filter({ hasText: 'Waiting for hosts (0 of 2)' })
    await status.getByText('2 listed hosts have not enrolled: pc-7-001, pc-7-002').waitFor()
    const token = (await page.getByText(/^pce_/).first().textContent())?.trim() ?? ''
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    await enrolAgent(at, { token, only: 'enrol', facts: { hostname: 'PC-7-001' } })
    await page.getByText('1 listed host has not enrolled: pc-7-002').first().waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})
