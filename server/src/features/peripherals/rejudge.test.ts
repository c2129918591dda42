import { buildDevice } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#platform/db/sql.ts'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent } from '#test/builders.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

/** Usage page Generic Desktop, usage Keyboard, application collection, end. */
const keyboardReport = Buffer.from('05010906a101c0', 'hex').toString('base64')
const seen = sql`select count(*) as n from designs d join models m on m.model_id = d.model_id where m.pid = '5679' and d.saw_reports`
/** Interfaces that say HID and nothing of what it is. With storage beside it, a keyboard is an attack tool. */
const device = (reportDescriptors?: string[]) => ({
  ...buildDevice({ vid: '1234', pid: '5678', product: 'Gadget', interfaces: ['03:00:00', '08:06:50'] }),
  ...(reportDescriptors === undefined ? {} : { reportDescriptors }),
})

describe('a design judged without report descriptors', () => {
  it('is judged again when a report brings them, on every host that has it', async () => {
    const first = await enrolAgent(t, { devices: [device()] })
    expect(await first.peripherals()).toMatchObject([{ severity: 10, attackTool: '' }])
    const second = await enrolAgent(t, { devices: [device([keyboardReport])] })
    for (const agent of [first, second]) {
      await expect.poll(async () => (await agent.detail()).severity, { timeout: 10_000 }).toBe(50)
      expect(await agent.peripherals()).toMatchObject([
        { severity: 50, attackTool: 'confirmed', devIconDescription: 'Keyboard' },
      ])
      expect((await agent.events()).map((e) => e.eventCode)).toContain('0x110010')
    }
    // Said once: what is known of it does not change with every report.
    await enrolAgent(t, { devices: [device([keyboardReport])] })
    await t.server.jobs.drain()
    expect((await first.events()).filter((e) => e.eventCode === '0x110010')).toHaveLength(1)
  })

  it('never looks better by what a report brings', async () => {
    const worse = {
      ...buildDevice({ vid: '1234', pid: '5679', interfaces: ['03:01:01', '08:06:50'] }),
    }
    const agent = await enrolAgent(t, { devices: [worse] })
    expect(await agent.peripherals()).toMatchObject([{ severity: 50 }])
    /** A mouse, says the report. */
    const mouse = Buffer.from('05010902a101c0', 'hex').toString('base64')
    await enrolAgent(t, { devices: [{ ...worse, reportDescriptors: [mouse] }] })
    await expect
      .poll(async () => (await t.server.db.query<{ n: number }>(seen))[0]?.n, { timeout: 10_000 })
      .toBeGreaterThan(0)
    await t.server.jobs.drain()
    expect(await agent.peripherals()).toMatchObject([{ severity: 50 }])
  })
})
