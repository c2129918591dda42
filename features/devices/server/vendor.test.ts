import { rubberDucky, storageStick, yubiKey } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp

interface Row {
  vid: string
  pid: string
  uuid: string
  hostIdentifier: string
  peripheralsCount: number
}

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  // One model with two manufacturer strings, one that matches only by vendor id, and one that does not match.
  const usual = { vid: '0951', pid: '1666', serial: 'a' }
  const first = await enrolAgent(t, {
    facts: { hostname: 'first' },
    devices: [
      storageStick({ portPath: '1-1', ...usual, manufacturer: 'Kingston' }),
      storageStick({ portPath: '1-2', ...usual, serial: 'b', manufacturer: 'Generic' }),
      storageStick({ portPath: '1-3' }),
    ],
  })
  await enrolAgent(t, {
    facts: { hostname: 'second' },
    devices: [
      rubberDucky({ portPath: '1-1' }),
      storageStick({ portPath: '1-2', vid: 'FFF0', pid: '0001', manufacturer: 'KINGSTON clone' }),
    ],
  })
  await enrolAgent(t, {
    facts: { hostname: 'third' },
    devices: [rubberDucky({ portPath: '1-1' }), yubiKey({ portPath: '1-2' })],
  })
  await t.server.db.execute(sql`update agent_rows r set armed = true where r.agent_id = ${first.agentId}::uuid`)
  await t.server.db.execute(sql`update peripherals p set unapproved = true`)
})
afterAll(() => t.close())

const get = async (path: string): Promise<{ data: Row[]; recordsFiltered: number }> => {
  const answer = await (await t.admin()).get(`/prime/webui/${path}`)
  expect(answer.statusCode, answer.body).toBe(200)
  const body = answer.json()
  return Array.isArray(body) ? { data: body, recordsFiltered: body.length } : body
}
const modelsOf = (rows: readonly Row[]) => [...new Set(rows.map(({ vid, pid }) => `${vid}:${pid}`))].sort()

describe('the filter by vendor', () => {
  it.each(['Kingston', 'kINGston', 'clone'])('matches the same devices for %s in every list', async (word) => {
    const devices = await get(`peripherals?vendor=${word}`)
    const models = await get(`peripherals/models?vendor=${word}`)
    const expected = modelsOf(models.data)
    expect(modelsOf(devices.data)).toEqual(expected)
    expect(devices.recordsFiltered).toBe(models.data.reduce((sum, { peripheralsCount }) => sum + peripheralsCount, 0))
    const hosts = await get(`agents?Vendor=${word}`)
    expect(hosts.data.map(({ hostIdentifier }) => hostIdentifier).sort()).toEqual(
      [...new Set(devices.data.map(({ hostIdentifier }) => hostIdentifier))].sort(),
    )
    expect(modelsOf((await get(`agents/UniqueWhitelistViolation?vendor=${word}`)).data)).toEqual(expected)
    const waiting = await get(`policy/approvals?vendor=${word}`)
    expect(modelsOf(waiting.data)).toEqual(expected.filter((model) => model !== 'FFF0:0001'))
  })

  it('removes findings of other vendors from an insight', async () => {
    const path = 'agents/RiskInsights/VulnerablePeripherals'
    const all = await get(path)
    expect(modelsOf(all.data)).toEqual(['1050:0407'])
    expect((await get(`${path}?vendor=yubico`)).data).toEqual(all.data)
    expect((await get(`${path}?vendor=Kingston`)).data).toEqual([])
  })
})

describe('the filter of hosts by model', () => {
  it('returns the hosts with an attached device of the model', async () => {
    const named = async (model: string) => (await get(`agents?Model=${model}`)).data.map((row) => row.hostIdentifier)
    expect(await named('03eb:2401')).toEqual(['second', 'third'])
    expect(await named('0951:1666')).toEqual(['first'])
    expect(await named('0951')).toEqual(['first'])
    expect(await named('0951:16')).toEqual(['first'])
    expect((await named('kingSTON')).sort()).toEqual(['first', 'second'])
    expect(await named('1666 kingston')).toEqual(['first'])
    expect(await named('no such model')).toEqual([])
  })
})

describe('suggestions for a filter', () => {
  const suggested = async (kind: string, text: string) =>
    (await get(`peripherals/suggestions?kind=${kind}&text=${encodeURIComponent(text)}`)).data as unknown

  it('are values of the known models, the most frequent first', async () => {
    expect(await suggested('model', 'kingston')).toEqual([
      { value: '0951:1666', label: expect.stringContaining('Kingston'), devices: 2 },
      { value: 'FFF0:0001', label: expect.stringContaining('KINGSTON clone'), devices: 1 },
    ])
    expect(await suggested('model', '16 kINGston')).toEqual([expect.objectContaining({ value: '0951:1666' })])
    expect(await suggested('vid', '0951')).toEqual([{ value: '0951', label: 'Kingston Technology', devices: 2 }])
    expect(await suggested('pid', 'kingston 1666')).toEqual([expect.objectContaining({ value: '1666' })])
    // Words in the name of a Kingston product do not count as a vendor.
    expect(await suggested('vendor', 'datatraveler')).toEqual([])
    expect(await suggested('vendor', '%')).toEqual([])
    expect(await suggested('vid', 'ki 51')).toEqual([{ value: '0951', label: 'Kingston Technology', devices: 2 }])
    const all = (await suggested('vendor', '')) as { devices: number }[]
    expect(all.length).toBeGreaterThan(3)
    expect(all.map(({ devices }) => devices)).toEqual(all.map(({ devices }) => devices).sort((a, b) => b - a))
  })

  it('finds the rows that it counts', async () => {
    for (const [kind, filter] of [
      ['vendor', 'vendor'],
      ['vid', 'vid'],
    ] as const)
      for (const { value, devices } of (await suggested(kind, '')) as { value: string; devices: number }[])
        expect((await get(`peripherals?present=true&${filter}=${value}`)).recordsFiltered).toBeGreaterThanOrEqual(
          devices,
        )
  })
})

describe('the search of devices', () => {
  it('finds an attack tool by the name in its evidence', async () => {
    expect((await get('peripherals?globalSearch=rubber ducky')).data.map((row) => row.hostIdentifier).sort()).toEqual([
      'second',
      'third',
    ])
  })
})
