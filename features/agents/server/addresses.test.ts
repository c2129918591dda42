import { isIPv4, isIPv6 } from 'node:net'
import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { agentlessOf, ok } from '@portcullis/server/test/agentless.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection, ConnectionStatus, Peripheral } from '#features/contract.ts'

let t: TestApp
/** In sort order. */
const addresses = [
  '9.255.0.1',
  '10.0.0.2',
  '10.0.0.10',
  '::ffff:10.0.0.11',
  '100.0.0.1',
  '::1',
  'fe80::2%eth0',
  'fe80::10',
  'fe80:0:0:0:0:0:0:11',
  '10.0.0.256',
  'host-2',
]

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  for (const address of addresses.toReversed())
    await enrolAgent(t, { facts: { address }, devices: [storageStick({ portPath: '1-1' })] })
  const names = ['srv-10', '10.0.0.10', '10.0.0.9', 'fd00::10', 'fd00::9']
  ok(
    await agentlessOf(t).post('connectiondetails', {
      connections: names.map((computerName) => ({ computerName, userName: 'u', password: 'p' })),
    }),
  )
})
afterAll(() => t.close())

describe('addresses', () => {
  it.each(['localIpAddress', 'IpAddress'])('of agents sort as addresses by %s, not as text', async (key) => {
    const shown = async (order: string) =>
      (await pageOf(t, `agents?SortBy=${key}_${order}`)).data.map((row) => row.localIpAddress)
    expect(await shown('asc')).toEqual(addresses)
    expect(await shown('desc')).toEqual(addresses.toReversed())
  })

  it('of the hosts of peripherals sort as addresses', async () => {
    const { data } = await pageOf<Peripheral>(t, 'peripherals?SortBy=hostIp_asc')
    expect(data.map((row) => row.hostIp)).toEqual(addresses)
  })

  it('of agentless computers sort as addresses, before names', async () => {
    const expected = ['10.0.0.9', '10.0.0.10', 'fd00::9', 'fd00::10', 'srv-10']
    const list = await pageOf<Connection>(t, 'agents/agentless/connectiondetails?SortBy=computerName_asc')
    expect(list.data.map((row) => row.computerName)).toEqual(expected)
    const status = await pageOf<ConnectionStatus>(t, 'agents/agentless/connectiondetailsstatus')
    expect(status.data.map((row) => row.computerName)).toEqual(expected)
  })

  it('sort as names if they are invalid, and no text causes an error', async () => {
    const part = fc.constantFrom('0', '1', '10', '255', '256', '00', 'f', 'ffff', 'fffff', 'g', '', 'İ')
    const mark = fc.constantFrom(':', '::', '.', '%', '/', '')
    const odd = fc.array(fc.tuple(part, mark), { maxLength: 9 }).map((all) => all.flat().join(''))
    const texts = fc.array(fc.oneof(odd, fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 64 })), { minLength: 50 })
    await fc.assert(
      fc.asyncProperty(texts, async (given) => {
        const plain = given.map((text) => text.replaceAll('\0', '').toWellFormed())
        const rows = await t.db.query<{ text: string; key: string }>(
          sql`select x.text, address_order(x.text) as key from unnest(${plain}::text[]) x(text)`,
        )
        for (const { text, key } of rows) {
          const bare = text.includes(':') ? (text.split('%')[0] as string) : text
          const four = bare.toLowerCase().startsWith('::ffff:') ? bare.slice(7) : bare
          const hasFour = bare.includes('.')
          const kind = text === '' ? '' : isIPv4(four) ? '4' : isIPv6(bare) && !hasFour ? '6' : 'n'
          expect([text, key.slice(0, 1), key.length]).toEqual([
            text,
            kind,
            kind === '4' ? 9 : kind === '6' ? 33 : expect.any(Number),
          ])
        }
      }),
      { numRuns: 20 },
    )
  })
})
