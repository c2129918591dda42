import { sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVerificationFile } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import { type WindowsVerification, windowsSteps } from '@portcullis/features/contract.ts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('Windows hosts in the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let hosts: TestAgent[]

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const facts = { osName: 'Windows 11 Pro', osBuild: '10.0.22631.4317', enforcement: 'before-install' } as const
    hosts = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) => enrolAgent(at, { token, facts: { ...facts, hostname: `windows-${n}` } })),
    )
  })
  afterAll(async () => {
    await server?.stop()
  })

  const verification = ({ agentId, privateKey }: TestAgent): string => {
    const report: WindowsVerification = {
      format: 'portcullis-windows-verification-1',
      agentId,
      osBuild: '10.0.22631.4317',
      edition: 'Windows 11 Pro',
      agentVersion: '1.0.0',
      createdAt: new Date().toISOString(),
      checks: windowsSteps.map(({ id }) => ({
        id,
        result: id === 'hubs-and-docks' ? 'not-performed' : 'passed',
        detail: '',
      })),
    }
    const file = createVerificationFile(report, (text) => sign(null, Buffer.from(text), privateKey).toString('base64'))
    const path = join(server.dataDir, 'verification.json')
    writeFileSync(path, JSON.stringify(file))
    return path
  }

  it('says why a Windows host is refused, and what its grade guarantees once it can be armed', async () => {
    const [first] = hosts as [TestAgent]
    const { page, context, wrong } = await openSignedIn(browser, server.url, `/agents/${first.agentId}`, {
      width: 1440,
      height: 900,
    })
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Arm…' }).click()
    await dialog.getByText('1 host is left out: Windows enforcement is a preview and is turned off').waitFor()
    expect(await dialog.getByText(/Arming blocks|Checking past attachments/).count()).toBe(0)
    await page.keyboard.press('Escape')

    await page.goto('/policy/settings')
    const card = page.getByRole('region', { name: 'Windows hosts' })
    await card.getByText('Windows enforcement is turned off.').waitFor()
    await page
      .getByRole('switch', { name: 'Windows enforcement (preview)' })
      .or(page.getByLabel('Windows enforcement (preview)'))
      .first()
      .click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('five hosts of each Windows build').waitFor()
    await dialog.locator('button[type=submit]').click()
    await dialog.waitFor({ state: 'detached' })
    await card.getByText('Windows enforcement is a preview').waitFor()

    await page.goto(`/agents/${first.agentId}`)
    await page.getByRole('button', { name: 'Arm…' }).click()
    const grades = dialog.getByRole('list', { name: 'Enforcement after arming' })
    await grades.getByText('Enforces before driver installation (1 host).').waitFor()
    await grades.getByText('Not covered').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('imports a verification after a person confirmed the open step, which lifts the limit, and removes it', async () => {
    const uuids = hosts.map(({ agentId }) => agentId)
    const preview = () =>
      server.post<{ agents: number }>('agents/bulk/preview', { action: 'arm', uuids }).then(({ agents }) => agents)
    expect(await preview()).toBe(5)
    const { page, context, wrong } = await openSignedIn(browser, server.url, '/policy/settings', {
      width: 1440,
      height: 900,
    })
    const card = page.getByRole('region', { name: 'Windows hosts' })
    const dialog = page.getByRole('dialog')
    await card.getByRole('row').filter({ hasText: '22631' }).getByText('6', { exact: true }).waitFor()
    await card
      .locator('input[type=file]')
      .or(page.locator('input[type=file]'))
      .first()
      .setInputFiles(verification(hosts[0] as TestAgent))
    await dialog.getByText('portcullis-agent verify performed 19 steps').waitFor()
    const action = dialog.getByRole('button', { name: 'Import verification' })
    expect(await action.isDisabled()).toBe(true)
    await dialog.getByLabel('Hubs and docks keep working').click()
    await action.click()
    await dialog.waitFor({ state: 'detached' })
    await card.getByText('No limit (verified)').waitFor()
    expect(await preview()).toBe(6)

    await card.getByRole('button', { name: 'Remove verification' }).click()
    await dialog.getByText('Armed hosts stay armed').waitFor()
    await dialog.getByRole('button', { name: 'Remove verification' }).click()
    await card.getByText('No verifications have been imported.').waitFor()
    expect(await preview()).toBe(5)
    expect(wrong).toEqual([])
    await context.close()
  })
})
