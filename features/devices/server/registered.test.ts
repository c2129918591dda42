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

const keyboard = Buffer.from('05010906a101c0', 'hex').toString('base64')
const fido = Buffer.from('06d0f10901a101c0', 'hex').toString('base64')

describe('a device with registered ids', () => {
  const device = buildDevice({ vid: '303A', pid: '8365', manufacturer: 'Paige', interfaces: ['02:02:00', '0a:00:00'] })
  const pad = buildDevice({ vid: '2E8A', pid: '10AA', portPath: '1-2', interfaces: ['03:01:01'] })

  it('has the name and maker of the registry, also after an upgrade', async () => {
    const agent = await enrolAgent(t, { devices: [device, pad] })
    const expected = [
      { pid: '10AA', guiVid: 'KeyForge', guiPid: 'Macropad device' },
      { pid: '8365', guiVid: 'Paige', guiPid: 'Paige Braille - Paige Connect' },
    ]
    const shown = async () => (await agent.peripherals()).sort((a, b) => (a.pid < b.pid ? -1 : 1))
    expect(await shown()).toMatchObject(expected)
    // The names that an earlier release stored.
    await t.server.db.execute(sql`update models set vendor = 'Espressif Systems', product = '' where vid = '303A'`)
    await t.server.db.execute(sql`update designs set knowledge_version = 'an older one'`)
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock, listen: true })
    try {
      await expect.poll(shown, { timeout: 10_000 }).toMatchObject(expected)
    } finally {
      await other.close()
    }
  })
})

describe('a security key with unknown ids that also types', () => {
  it('keeps its kind, has a warning, and rules still treat it as a keyboard', async () => {
    const agent = await enrolAgent(t, {
      devices: [
        buildDevice({
          ...{ vid: 'FFF0', pid: '0007', product: 'Key', interfaces: ['03:01:01', '03:00:00'] },
          reportDescriptors: [keyboard, fido],
        }),
      ],
    })
    expect(await agent.peripherals()).toMatchObject([
      {
        devIconDescription: 'Security Key',
        attackTool: '',
        evidence: [expect.stringContaining('not those of a known security key')],
      },
    ])
  })
})
