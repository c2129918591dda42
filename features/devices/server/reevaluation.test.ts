import { buildDevice } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

/** Usage page Generic Desktop, usage Keyboard, application collection, end. */
const keyboardReport = Buffer.from(
  '05010906a101050719e029e7150025017501950881029506750815002565190029658100c0',
  'hex',
).toString('base64')
const mouseReport = Buffer.from('05010902a101c0', 'hex').toString('base64')
/**
 * A HID interface that does not reveal its kind, and a storage interface. If the HID is a keyboard, this is an attack
 * tool.
 */
const device = (reportDescriptors?: string[]) => ({
  ...buildDevice({ vid: '1234', pid: '5678', product: 'Gadget', interfaces: ['03:00:00', '08:06:50'] }),
  ...(reportDescriptors === undefined ? {} : { reportDescriptors }),
})
const codes = async (agent: { events(): Promise<{ eventCode: string }[]> }) =>
  (await agent.events()).map((e) => e.eventCode)

describe('a verdict', () => {
  it('does not apply to another device that differs only in its report descriptors', async () => {
    const harmless = await enrolAgent(t, { devices: [device([mouseReport])] })
    const keyboard = await enrolAgent(t, { devices: [device([keyboardReport])] })
    const unread = await enrolAgent(t, { devices: [device()] })
    expect(await harmless.peripherals()).toMatchObject([{ severity: 10, attackTool: '' }])
    expect(await keyboard.peripherals()).toMatchObject([{ severity: 50, attackTool: 'confirmed' }])
    expect(await unread.peripherals()).toMatchObject([{ severity: 10, attackTool: '' }])
  })

  it('follows later reports of a device, without a new attachment', async () => {
    const agent = await enrolAgent(t, { devices: [device()] })
    await agent.change(device([keyboardReport]))
    expect(await agent.peripherals()).toMatchObject([
      { severity: 50, attackTool: 'confirmed', devIconDescription: 'Keyboard' },
    ])
    const seen = await codes(agent)
    expect(seen.filter((code) => code === '0x110010')).toHaveLength(1)
    expect(seen.filter((code) => code === '0x110003' || code === '0x110001')).toEqual([])
  })
})

describe('fingerprints of an earlier release', () => {
  it('are re-evaluated, and the server requests the inventory of their hosts', async () => {
    const agent = await enrolAgent(t, { devices: [device([keyboardReport])] })
    // Simulates the data of an earlier release: no inputs, and the verdict of a harmless twin.
    await t.server.db.execute(sql`
      update designs d set judged_by = null, exact_fingerprint = '', fingerprint = 'old' || d.design_id, kinds = '{Mass Storage}', icon = 3,
        severity = 10, attack_tool = 0, evidence = '[]', findings = '', knowledge_version = 'an older one', saw_reports = false
      where d.kinds @> '{Keyboard}'`)
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock, listen: true })
    try {
      const asked = sql`select count(*)::int as n from agent_heartbeats h where h.agent_id = ${agent.agentId}::uuid and h.inventory_hash is null`
      await expect
        .poll(async () => (await other.server.db.query<{ n: number }>(asked))[0]?.n, { timeout: 10_000 })
        .toBe(1)
      const answer = await agent.checkIn({})
      expect(answer).toMatchObject({ needInventory: true })
      await agent.inventory()
      expect(await agent.peripherals()).toMatchObject([{ severity: 50, attackTool: 'confirmed' }])
    } finally {
      await other.close()
    }
  })
})
