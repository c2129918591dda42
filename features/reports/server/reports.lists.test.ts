import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { defuse } from '@portcullis/platform/server/csv.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken, pageOf } from '@portcullis/server/test/builders.ts'
import { allCsvRecords } from '@portcullis/server/test/csv.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type FleetEvent,
  type Peripheral,
  type ReportListName,
  type ReportRun,
  reportListNames,
  reportLists,
  reportTraits,
} from '#features/contract.ts'

const base = '/prime/webui/reports'
let t: TestApp
const dir = mkdtempSync(join(tmpdir(), 'portcullis-report-'))

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  const agent = await enrolAgent(t, { facts: { hostname: '=cmd|calc' }, devices: [storageStick()] })
  await agent.unplug(storageStick().portPath)
  await agent.plug(storageStick())
  await insertFleet(t, 40)
  const admin = await t.admin()
  const ok = async (path: string, body: unknown) => {
    const answer = await admin.post(path, body)
    expect(answer.statusCode, answer.body).toBe(200)
  }
  await ok('/prime/webui/policy/rules', { effect: 'deny', kinds: ['Mass Storage'], reason: 'no sticks; "quoted"' })
  await ok('/prime/webui/policy/rules', { effect: 'allow', vid: '046D', reason: '=mice' })
  await ok('/prime/webui/agents/agentless/connectiondetails', {
    computerName: 'polled.example.org',
    userName: 'probe',
    platform: 'linux',
  })
  await t.server.jobs.drain()
  const { design_id } = (
    await t.server.db.query<{ design_id: string }>(
      sql`select p.design_id from peripherals p where p.agent_id = ${agent.agentId}::uuid limit 1`,
    )
  )[0] as { design_id: string }
  // Findings as the knowledge would store them.
  await t.server.db.execute(sql`update designs set attack_tool = 2, vulnerable = true, severity = 50, evidence = '["said so"]',
    vulnerabilities = '[{"id":"CVE-1","weakness":"w","cvss":null,"confidence":"model","firmwareCondition":"","source":"s"}]'
    where design_id = ${design_id}`)
  await t.server.db.execute(sql`
    insert into host_findings (agent_id, device_id, fingerprint_id, severity, opened_at, last_attached)
    select p.agent_id, p.device_id, p.design_id, 50, p.first_seen, p.last_seen from peripherals p
    where p.agent_id = ${agent.agentId}::uuid`)
  await t.server.db.execute(sql`update peripherals set unapproved = true where agent_id = ${agent.agentId}::uuid`)
  await t.server.db.execute(sql`insert into agent_errors (agent_id, received_at, host_time, code, message)
    values (${agent.agentId}::uuid, ${new Date(t.clock.now() - 60_000)}, now(), 'x', 'it hurts, "here"')`)
  t.clock.advance(2_000)
})
afterAll(async () => {
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

let names = 0
const runOf = async (list: ReportListName, change: Record<string, unknown> = {}): Promise<ReportRun> => {
  const admin = await t.admin()
  const added = await admin.post(`${base}/schedules`, {
    name: `${list} ${++names}`,
    list,
    format: 'csv',
    form: 'fixed',
    cadence: { every: 'day', time: '06:00', timeZone: 'UTC' },
    range: 'all',
    recipients: [],
    folder: null,
    keepFiles: 3,
    isEnabled: false,
    ...change,
  })
  expect(added.statusCode, added.body).toBe(200)
  const { runId } = (await admin.post(`${base}/schedules/${added.json().id}/run`)).json()
  await t.server.jobs.drain()
  return (await pageOf<ReportRun>(t, `reports/runs?scheduleId=${added.json().id}`)).data.find(
    ({ id }) => id === runId,
  ) as ReportRun
}
const bytesOf = async (run: ReportRun): Promise<Buffer> => {
  expect(run, run.error).toMatchObject({ state: 'completed', hasFile: true })
  return (await (await t.admin()).get(`${base}/runs/${run.id}/file`)).rawPayload
}
const recordsOf = async (bytes: Buffer): Promise<Record<string, string>[]> => {
  const [head = [], ...rows] = (await allCsvRecords(bytes)).map((record) => {
    if ('fault' in record) throw new Error(`line ${record.line}: ${record.fault}`)
    return record.cells
  })
  return rows.map((cells) => {
    expect(cells).toHaveLength(head.length)
    return Object.fromEntries(head.map((key, i) => [key, cells[i] ?? '']))
  })
}
const rowsOf = async (list: ReportListName, change: Record<string, unknown> = {}) => {
  const run = await runOf(list, change)
  const records = await recordsOf(await bytesOf(run))
  expect(run.rows).toBe(records.length)
  return records
}
const countOf = async (path: string): Promise<number> => (await pageOf(t, path)).recordsFiltered

describe('a report of', () => {
  it.each(reportListNames)('%s has its columns, as CSV and as PDF', async (list) => {
    const run = await runOf(list)
    const text = (await bytesOf(run)).toString('utf8')
    expect(text.slice(0, text.indexOf('\r\n'))).toBe(`\ufeff${Object.keys(reportLists[list].row.properties).join(',')}`)
    const pdf = await runOf(list, { format: 'pdf', columns: Object.keys(reportLists[list].row.properties).slice(0, 4) })
    const bytes = await bytesOf(pdf)
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    writeFileSync(join(dir, 'file.pdf'), bytes)
    const checked = spawnSync('qpdf', ['--check', join(dir, 'file.pdf')], { encoding: 'utf8' })
    if (checked.error === undefined) expect(checked.status, checked.stdout + checked.stderr).toBe(0)
    const read = spawnSync('pdftotext', [join(dir, 'file.pdf'), '-'], { encoding: 'utf8' })
    // The heading is the name of the schedule, followed by a description of the rows.
    if (read.error === undefined)
      expect(read.stdout).toMatch(
        new RegExp(`^${list} ${names}\\n+${reportLists[list].title}\\. (All rows|Rows where)`),
      )
    // Reports add records to the audit trail.
    if (list !== 'audit') expect(pdf.rows).toBe(run.rows)
    expect(run.rows).toBeGreaterThan(list === 'uncommon' || list === 'spoofed' ? -1 : 0)
  })

  it('peripherals, models, events, agents and rules has the filtered rows of the list', async () => {
    const sticks = await rowsOf('peripherals', { filter: { present: true, vid: '0781' } })
    expect(sticks).toHaveLength(await countOf('peripherals?present=true&vid=0781'))
    expect(sticks.some(({ hostIdentifier }) => hostIdentifier === "'=cmd|calc")).toBe(true)
    expect(await rowsOf('models', { filter: { vid: '0781' } })).toHaveLength(
      await countOf('peripherals/models?vid=0781'),
    )
    const events = await rowsOf('events', { filter: { category: 'USB', globalSearch: 'attached' } })
    expect(events).toHaveLength(await countOf('events/getevents?category=USB&globalSearch=attached'))
    expect(events.length).toBeGreaterThan(0)
    expect(await rowsOf('agents', { filter: { hostIdentifier: '=cmd' } })).toHaveLength(1)
    const denies = await rowsOf('rules', { filter: { effect: 'deny' } })
    expect(denies.map(({ kinds, reason }) => [kinds, reason])).toEqual([['Mass Storage', 'no sticks; "quoted"']])
    expect((await rowsOf('rules', { filter: { vid: '046d' } }))[0]?.reason).toBe("'=mice")
  })

  it('insights has their rows', async () => {
    expect(await rowsOf('attackTools', { filter: { hostIdentifier: '=cmd' } })).toMatchObject([
      { hostIdentifier: "'=cmd|calc", attackTool: 'confirmed' },
    ])
    expect(await rowsOf('attackTools', { filter: { vid: 'FFFF' } })).toEqual([])
    const vulnerable = await rowsOf('vulnerable')
    // It names twenty of its 41 hosts, in the database's order.
    expect(vulnerable).toMatchObject([
      {
        vulnerabilities: 'CVE-1',
        hosts: expect.stringMatching(/\d+; .*\d+/),
        isKnownAttackTool: 'true',
      },
    ])
    const violations = await rowsOf('violations')
    const listed = (await (await t.admin()).get('/prime/webui/agents/UniqueWhitelistViolation')).json() as Record<
      string,
      unknown
    >[]
    expect(violations).toEqual(
      listed.map(({ devIcon: _, ...row }) =>
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, defuse(String(value))])),
      ),
    )
    expect(await rowsOf('agentErrors')).toMatchObject([
      { hostIdentifier: "'=cmd|calc", errorsCount: '1', lastError: 'it hurts, "here"' },
    ])
  })

  it('the audit trail has its records, by name and outcome', async () => {
    const made = await rowsOf('audit', { filter: { action: 'report_schedule.created', userName: 'ADM' } })
    expect(made.length).toBeGreaterThan(20)
    expect(made.every(({ action, userName }) => action === 'report_schedule.created' && userName === 'admin')).toBe(
      true,
    )
    expect(await rowsOf('audit', { filter: { outcome: 'failure', fromDate: '2040-01-01' } })).toEqual([])
  })

  it.each(reportListNames.filter((list) => reportTraits[list].time !== ''))(
    '%s within a range has fewer rows',
    async (list) => {
      const all = await runOf(list)
      const month = await runOf(list, { range: 'month' })
      expect([month.state, month.error, month.rangeTo]).toEqual(['completed', '', month.dueAt])
      expect(month.rows).toBeLessThanOrEqual(all.rows + (list === 'audit' ? 10 : 0))
      // The fleet was stored with the database's clock, years before this server's.
      if (['agents', 'peripherals', 'violations'].includes(list)) expect(month.rows).toBeLessThan(all.rows)
    },
  )

  it('a range has the rows of that range', async () => {
    const all = await rowsOf('events')
    const day = await rowsOf('events', { range: 'day' })
    expect(day).toHaveLength(all.length)
    t.clock.advance(2 * 86_400_000)
    expect(await rowsOf('events', { range: 'day', filter: { category: 'USB' } })).toEqual([])
    expect((await rowsOf('events', { range: 'week', filter: { category: 'USB' } })).length).toBeGreaterThan(0)
    expect(await rowsOf('agentErrors', { range: 'day' })).toEqual([])
    expect(await rowsOf('agentErrors', { range: 'week' })).toHaveLength(1)
  })
})

describe('single devices and events as files', () => {
  const csv = async (path: string, body?: unknown) => {
    const answer = await (await t.admin()).post(`/prime/webui/${path}`, body)
    expect(answer.statusCode, answer.body.slice(0, 400)).toBe(200)
    return await recordsOf(answer.rawPayload)
  }

  it('have the rows of their lists in their order', async () => {
    const devices = await pageOf<Peripheral>(t, 'peripherals?PageSize=1000&SortBy=hostIdentifier_asc')
    const rows = await csv('peripherals/exportperipheralscsv', { sortBy: 'hostIdentifier_asc' })
    expect(rows.map(({ uuid, deviceID, severity }) => [uuid, deviceID, severity])).toEqual(
      devices.data.map(({ uuid, deviceID, severity }) => [uuid, defuse(deviceID), String(severity)]),
    )
    expect(rows.length).toBeGreaterThan(40)
    const events = await pageOf<FleetEvent>(t, 'events/getevents?PageSize=1000&minimumSeverity=Notice')
    expect(
      (await csv('events/exporteventscsv', { minimumSeverity: 'Notice' })).map(({ eventID }) => Number(eventID)),
    ).toEqual(events.data.map(({ eventID }) => eventID))
  })

  it.each(['peripherals/exportperipheralspdf', 'events/exporteventspdf'])(
    '%s is a PDF, and rejects unknown filters',
    async (path) => {
      const admin = await t.admin()
      const pdf = await admin.post(`/prime/webui/${path}`, { columns: ['description'] })
      expect([pdf.statusCode, pdf.headers['content-type'], pdf.rawPayload.subarray(0, 5).toString()]).toEqual([
        200,
        'application/pdf',
        '%PDF-',
      ])
      expect((await admin.post(`/prime/webui/${path}`, { fromEventId: 'x' })).statusCode).toBe(400)
      expect((await admin.post(`/prime/webui/${path}`, { columns: ['password'] })).statusCode).toBe(400)
      expect((await t.as(undefined).post(`/prime/webui/${path}`)).statusCode).toBe(401)
    },
  )
})

describe('an immediate export of any list', () => {
  it('is the file of a schedule, for callers who may read the list', async () => {
    const admin = await t.admin()
    for (const list of ['rules', 'vulnerable', 'attackTools'] as const) {
      const answer = await admin.post(`${base}/export`, { list, format: 'csv' })
      expect(answer.headers['content-disposition']).toContain(`filename="${list}-`)
      expect(await recordsOf(answer.rawPayload)).toEqual(await rowsOf(list))
    }
    const pdf = await admin.post(`${base}/export`, { list: 'spoofed', format: 'pdf' })
    expect([pdf.statusCode, pdf.rawPayload.subarray(0, 5).toString()]).toEqual([200, '%PDF-'])
    expect(
      (await admin.post(`${base}/export`, { list: 'rules', format: 'csv', filter: { nothing: 1 } })).statusCode,
    ).toBe(400)
    const user = await person(t)
    expect((await user.api.post(`${base}/export`, { list: 'uncommon', format: 'csv' })).statusCode).toBe(200)
    const refused = await user.api.post(`${base}/export`, { list: 'audit', format: 'csv' })
    expect(refused.json()).toMatchObject({ status: 403, code: 'forbidden_object' })
    expect((await t.as(undefined).post(`${base}/export`, { list: 'rules', format: 'csv' })).statusCode).toBe(401)
  })
})

describe('a report of attack tools', () => {
  it('contains no other devices', async () => {
    await enrolAgent(t, { token: await enrolmentToken(t), facts: { hostname: 'harmless' }, devices: [plainKeyboard()] })
    t.clock.advance(2_000)
    expect(await rowsOf('peripherals', { filter: { hostIdentifier: 'harmless' } })).toHaveLength(1)
    expect(await rowsOf('attackTools', { filter: { hostIdentifier: 'harmless' } })).toEqual([])
  })
})
