import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword } from '../proof/kit/harness.ts'
import { ROOT } from '../scripts/bootstrap/say.mjs'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('enrolment tokens in the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
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

  it('shows the commands for Windows, downloads its installer if the server has one, and waits for the host', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/settings/enrolment')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Create install command' }).click()
    await page.getByRole('status').filter({ hasText: 'Waiting for the host' }).waitFor()
    await page.getByText('macOS', { exact: true }).click()
    await page.getByText(/^sudo sh install\.sh --server http/).waitFor()
    await page.getByText('Windows', { exact: true }).click()
    const command = (await page.getByText(/^msiexec \/i /).textContent()) ?? ''
    const [, file, address, token = ''] =
      /^msiexec \/i (portcullis-agent-\S+\.msi) SERVERURL=(\S+) TOKEN=(pce_\S+) \/qn$/.exec(command) ?? []
    expect(address).toBe(server.url)
    await page.getByText(`SERVERURL=${address} TOKEN=${token}`, { exact: true }).waitFor()
    const download = page.getByRole('button', { name: 'Download installer with token' })
    const plain = page.getByRole('link', { name: 'Download installer without token' })
    if (existsSync(join(ROOT, 'build/agent/msi/manifest.json'))) {
      const downloadingPlain = page.waitForEvent('download')
      await plain.click()
      const plainFile = await downloadingPlain
      expect(plainFile.suggestedFilename()).toBe(file)
      expect(readFileSync((await plainFile.path()) ?? '').includes('PORTCULLIS-SLOT-PresetToken-')).toBe(true)
      const downloading = page.waitForEvent('download')
      await download.click()
      const saved = await downloading
      expect(saved.suggestedFilename()).toBe(file)
      const content = readFileSync((await saved.path()) ?? '')
      for (const value of [address ?? '', token]) expect(content.includes(value.padEnd(512))).toBe(true)
    } else {
      await page.getByText('This server has no Windows installer.').waitFor()
      expect(await download.count()).toBe(0)
      expect(await plain.count()).toBe(0)
    }
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    await enrolAgent(at, { token, only: 'enrol', facts: { hostname: 'WIN-7-001' } })
    await page.getByRole('status').getByRole('link', { name: 'WIN-7-001' }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})
