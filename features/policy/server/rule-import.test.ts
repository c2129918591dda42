import { storageStick } from '@portcullis/domain/testing'
import type { Problem } from '@portcullis/platform/contract/problem.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyRuleResource, RuleImport } from '#features/contract.ts'

const base = '/prime/webui'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const send = async (text: string, more: Record<string, unknown> = {}) =>
  (await t.admin()).post(`${base}/policy/rules/import`, { text, effect: 'allow', reason: 'order 4711', ...more })
const imported = async (text: string, more: Record<string, unknown> = {}): Promise<RuleImport> => {
  const answer = await send(text, more)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const refusal = async (text: string, more: Record<string, unknown> = {}): Promise<Problem> => {
  const answer = await send(text, more)
  expect(answer.statusCode, answer.body).toBe(400)
  return answer.json()
}
const rules = async (): Promise<PolicyRuleResource[]> =>
  (await (await t.admin()).get(`${base}/policy/rules?PageSize=10000&SortBy=serial_asc`)).json().data
const version = async (): Promise<number> => (await (await t.admin()).get(`${base}/policy`)).json().version
const serials = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `S${String(from + i).padStart(6, '0')}`)
const model = { vid: '0781', pid: '5581' }

beforeEach(async () => {
  await (await t.admin()).post(`${base}/policy/restore`, { version: 0 })
})

describe('a list of serial numbers', () => {
  it('with 3 wrong lines among 10,000 names them and changes nothing', async () => {
    const before = await version()
    const lines = serials(0, 10_000).map((serial) => `0781,5581,${serial}`)
    lines[16] = '781,5581,S1'
    lines[4_999] = '0781,5581,'
    lines[9_999] = '0781,5581,S1,reason,more'
    for (const dryRun of [true, false]) {
      const problem = await refusal(lines.join('\r\n'), { dryRun })
      expect(problem.detail).toBe('3 of 10,000 lines are wrong, so nothing was added.')
      expect(problem.errors).toEqual([
        { field: 'body.text', message: 'line 17 has a VID that is not four hex digits' },
        { field: 'body.text', message: 'line 5,000 has no serial number' },
        { field: 'body.text', message: 'line 10,000 has 5 cells instead of 4' },
      ])
    }
    expect([await version(), await rules()]).toEqual([before, []])
  })

  it('counts repeated and covered devices, exactly as its dry run', async () => {
    const agent = await enrolAgent(t, {
      devices: [
        storageStick({ portPath: '1-1', serial: 'S000001' }),
        storageStick({ portPath: '1-2', serial: 'S000009' }),
      ],
    })
    await imported('S000003', model)
    const text = ['S000001', 'S000002', '', 's000001', 'S000003', ' S000004 '].join('\n')
    const counts = { lines: 5, added: 3, duplicates: 1, covered: 1 }
    const dry = await imported(text, { ...model, dryRun: true })
    expect(dry).toMatchObject({ ...counts, newlyAllowed: 1, secondPerson: false })
    expect(dry.prediction?.changed).toMatchObject({ agents: 1, peripherals: 1 })
    expect(await rules()).toHaveLength(1)
    expect(await imported(text, model)).toMatchObject({ ...counts, version: dry.version + 1 })
    expect((await rules()).map(({ serial, reason }) => [serial, reason])).toEqual(
      ['S000001', 'S000002', 'S000003', 'S000004'].map((serial) => [serial, 'order 4711']),
    )
    expect((await agent.peripherals()).map(({ hierarchy, decision }) => [hierarchy, decision]).sort()).toEqual([
      ['1-1', 'allow'],
      ['1-2', 'block'],
    ])
    // The list again adds nothing and makes no version.
    expect(await imported(text, model)).toMatchObject({ added: 0, covered: 4, version: dry.version + 1 })
  })

  it('may be a spreadsheet with a header in any order, or plain lines', async () => {
    const header = 'Reason;Serial number;PID;VID;Owner\n"for ""Ada""";A-1;0x5581;0781;x\n;A-2;5581;0781;y\n'
    expect(await imported(`\ufeff${header}`)).toMatchObject({ lines: 2, added: 2 })
    expect((await rules()).map(({ serial, reason }) => [serial, reason])).toEqual([
      ['A-1', 'for "Ada"'],
      ['A-2', 'order 4711'],
    ])
    expect(await imported('0781:5581\tB-1\n0781:5581\tB-2')).toMatchObject({ added: 2 })
    expect((await refusal('B-3')).errors).toEqual([{ field: 'body.text', message: 'line 1 has no VID and no PID' }])
    expect((await refusal('serial,serial\na,b')).detail).toContain('has the column serial twice')
    expect((await refusal('serial\n')).detail).toContain('has no device')
    expect((await refusal('a\u202Eb', model)).detail).toContain('1 line is wrong')
    expect((await refusal(serials(0, 10_001).join('\n'), model)).detail).toContain('more than 10,000 lines')
  })

  it('adds no rule for a header, a rounded number or two models in one line', async () => {
    expect(await imported('  \nserial,reason\nA-1,,,\n', model)).toMatchObject({ lines: 1, added: 1 })
    expect(await imported('0781,5581,A-2,kiosk', { reason: '  ' })).toMatchObject({ added: 1 })
    const faults = {
      'serial\nA-3\nSerial number': 'line 3 is a header, but not the first line',
      '4.53E+21': 'line 1 has a serial number that a spreadsheet rounded; format its column as text',
      '0781:5581:9,A-3': 'line 1 has more than a VID and a PID in one cell',
      'vid,pid,serial\n0781:5581,5583,A-3': 'line 2 has two PIDs',
      'serial\nA-3,,B-3': 'line 2 has 3 cells instead of 1',
      '0781,5581,': 'line 1 has no serial number',
    }
    for (const [text, message] of Object.entries(faults))
      expect((await refusal(text, model)).errors).toEqual([{ field: 'body.text', message }])
    expect((await rules()).map(({ serial, reason }) => [serial, reason])).toEqual([
      ['A-1', 'order 4711'],
      ['A-2', 'kiosk'],
    ])
  })

  it('becomes one version, one audit record, and one undo', async () => {
    const { version: made } = await imported('C-1\nC-2', { ...model, effect: 'deny', reason: '' })
    const admin = await t.admin()
    const audit = (await admin.get(`${base}/admin/audit/records?PageSize=1`)).json()
    expect(JSON.stringify(audit.data)).toContain('Added 2 rules from a list')
    await admin.post(`${base}/policy/history/${made}/undo`, {})
    expect(await rules()).toEqual([])
  })

  it('checks the common part like one rule', async () => {
    expect((await refusal('S1', { ...model, tag: 'missing' })).errors?.[0]?.field).toBe('body.tag')
    expect((await refusal('S1', { ...model, reason: '' })).errors?.[0]?.field).toBe('body.reason')
    expect((await refusal('S1', { ...model, expiresAt: '2001-01-01T00:00:00Z' })).errors?.[0]?.field).toBe(
      'body.expiresAt',
    )
  })
})
