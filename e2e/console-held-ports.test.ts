import { randomUUID } from 'node:crypto'
import { hub, unless } from '@portcullis/domain/testing'
import type { AgentCommand } from '@portcullis/features/contract.ts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, until } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('the page of a host with a held port', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let agent: TestAgent
  const id = randomUUID()
  const mismatch = { bound: [{ interface: 0, claims: 'Hub' as const, driver: 'rtl8150' }] }

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    agent = await enrolAgent(at, { token: await server.enrolmentToken(), facts: { hostname: 'KIOSK-7' } })
    const liar = hub({ portPath: '1-3', vid: '0BDA', pid: '8150', interfaces: ['09:00:00'] })
    const enforced = { effect: 'allow' as const, source: 'hub' as const, ruleId: null, policyVersion: 1, held: true }
    await agent.plug({ ...liar, authorized: false, enforced, mismatch })
    const hold = { id, portPath: '1-3', at: Date.now(), mismatch, vid: '0BDA', pid: '8150', serial: '' }
    const held = [{ ...hold, name: '4-Port USB 2.0 Hub', fingerprint: 'a'.repeat(32) }]
    await agent.checkIn({ enforcement: { mode: 'Armed', policyVersion: 1, reason: '', held } })
  })
  afterAll(async () => {
    await server?.stop()
  })

  it('shows the evidence and releases the port after confirmation', async () => {
    const { page } = await openWindow(browser, server.url, 1440, 900)
    await page.goto(`/agents/${agent.agentId}`)
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('claims hub, bound rtl8150').first().waitFor()
    await page.getByRole('button', { name: 'Release port…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('the host checks the device at this port again').waitFor()
    await dialog.getByRole('button', { name: 'Release port' }).click()
    const asked = page.getByText(/^Release requested by admin. Waiting for the host/)
    await asked.waitFor()
    const { value } = await until('the host gets the command', async () => {
      const { commands = [] } = await agent.checkIn()
      return commands.map((c) => JSON.parse(c.payload) as AgentCommand).find(({ kind }) => kind === 'release-ports')
    })
    expect(value).toMatchObject({ releases: [{ id, accept: false }] })
    await agent.checkIn({ enforcement: { mode: 'Armed', policyVersion: 1, reason: '', held: [] } })
    await asked.waitFor({ state: 'detached' })
  })
})
