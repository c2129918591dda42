import { storageStick } from '@portcullis/domain/testing'
import { defuse } from '@portcullis/platform/server/csv.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { allCsvRecords } from '@portcullis/server/test/csv.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { reportsOf } from '@portcullis/server/test/reports.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Agent,
  columnsOf,
  type Peripheral,
  type ReportListName,
  reportListNames,
  reportLists,
} from '#features/contract.ts'
import { readableSql, readableText } from './cell-text.ts'

const api = '/prime/webui'
const hostile = {
  formula: '=cmd|calc!A0',
  'a formula behind a separator': '||=cmd',
  'right to left': 'pay\u202Efdp.exe',
  hebrew: 'לוח מקשים',
  emoji: '\u{1F600} emoji',
  chinese: '日本語キーボード',
  'a comma, a "quote" and a line\nfeed': 'a,"b"\nc',
  long: 'n'.repeat(10_240),
} as const
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await enrolAgent(t, { facts: { hostname: 'first' }, devices: [storageStick()] })
  await insertFleet(t, 60)
  // Written to the tables directly: an agent would clean them, and the file must not rely on that.
  await t.server.db.execute(sql`
    with chosen as (select a.agent_id, row_number() over (order by a.agent_id) as n from agents a where a.host <> 'first')
    update agents a set host = (${Object.values(hostile)}::text[])[c.n], nics_text = '||=cmd**' || coalesce(a.nics_text, '')
    from chosen c where c.agent_id = a.agent_id and c.n <= ${Object.keys(hostile).length}`)
  t.clock.advance(2_000)
})
afterAll(() => t.close())

const recordsOf = async (bytes: Buffer): Promise<string[][]> =>
  (await allCsvRecords(bytes)).map((record) => {
    if ('fault' in record) throw new Error(`line ${record.line}: ${record.fault}`)
    return [...record.cells]
  })
const post = async (path: string, body: unknown) => {
  const answer = await (await t.admin()).post(`${api}/${path}`, body)
  expect(answer.statusCode, answer.body.slice(0, 400)).toBe(200)
  return answer.rawPayload
}

describe('a CSV file in the readable form', () => {
  it.each([
    ['agents/exportagentcsv', 'agents', 'agents?PageSize=1000'],
    ['peripherals/exportperipheralscsv', 'peripherals', 'peripherals?PageSize=1000'],
    ['agents/peripheralsAggExport', 'models', 'peripherals/models?PageSize=1000'],
    ['events/exporteventscsv', 'events', 'events/getevents?PageSize=1000'],
  ] as const)(
    'of %s has headings, labels and times with a zone, and the rows of the list',
    async (path, list, page) => {
      const labels = columnsOf(reportLists[list].row)
      const [head, ...rows] = await recordsOf(await post(path, { form: 'readable' }))
      expect(head).toEqual(Object.values(labels).map(({ heading }) => heading))
      const { data } = await pageOf<Record<string, unknown>>(t, page)
      expect(data.length).toBeGreaterThan(0)
      const expected = data.map((row) =>
        Object.entries(labels).flatMap(([key, label]) => {
          // The list of models has no number of approved devices.
          if (!(key in row)) return []
          const text = readableText(label, row[key] === null ? '' : String(row[key]))
          return [typeof row[key] === 'string' && label.form !== 'number' ? defuse(text) : text]
        }),
      )
      const known = Object.keys(labels).map((key) => key in (data[0] as object))
      expect(rows.map((cells) => cells.filter((_, i) => known[i] === true))).toEqual(expected)
    },
  )

  it('says when a host was seen, in words and in ISO 8601', async () => {
    const columns = [
      'hostIdentifier',
      'lastUpdated',
      'severity',
      'hasKnownAttackTools',
      'modelToolTip',
      'expirationDate',
    ]
    const [head, row] = await recordsOf(
      await post('agents/exportagentcsv', { form: 'readable', columns, hostIdentifier: 'first' }),
    )
    const [agent] = (await pageOf<Agent>(t, 'agents?HostIdentifier=first')).data
    expect(head).toEqual(['Host', 'Last seen (UTC)', 'Finding', 'Has attack tools', 'Model', 'Licence expires'])
    expect(row).toEqual(['first', `${agent?.lastUpdated}Z`, 'No findings', 'no', agent?.modelToolTip, ''])
    expect(row?.[1]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const [device] = (await pageOf<Peripheral>(t, 'peripherals?hostIdentifier=first')).data
    expect(device).toMatchObject({ status: 'OK', decision: 'block' })
    const [, state] = await recordsOf(
      await post('peripherals/exportperipheralscsv', {
        form: 'readable',
        columns: ['status', 'decision'],
        hostIdentifier: 'first',
      }),
    )
    expect(state).toEqual(['Attached', 'Not allowed'])
  })

  it('writes IDs so that no spreadsheet reads them as numbers', async () => {
    const columns = ['vid', 'pid', 'bcdDevice', 'classCode']
    const [, row] = await recordsOf(
      await post('peripherals/exportperipheralscsv', { form: 'readable', columns, hostIdentifier: 'first' }),
    )
    expect(row).toEqual(['0x0781', '0x5581', '0x0100', '0x08'])
    for (const text of ['', 'any', '05E3Z']) expect(readableText({ form: 'hex', labels: {} }, text)).toBe(text)
  })

  it('names the device of an event first', async () => {
    const device = '[Agent] Device VID/PID are 1209/6667'
    const texts = [
      `${device} SN c1  (Hak5 (Bash Bunny) Bunny)`,
      `${device.replace('Device', 'Vulnerable Device')}  (Hak5 Bunny): deny rule (all): case 7`,
      `${device} SN a  (b):  (c)  ()`,
      `${device} SN 7  ()`,
      `${device}  ()`,
      `2031-05-04 10:11:12 New USB peripheral detected: ${device}\n SN a  (b)`,
      `2031-05-04 10:11:12 New USB peripheral detected: ${device} SN a\\1  ($1\n& \\2)`,
      '2 devices attached',
    ]
    for (const form of ['eventText', 'timedText'] as const) {
      const format = { form, labels: {} }
      const rows = await t.db.query<{ text: string }>(
        sql`select ${raw(readableSql(format, 'x.given'))} as text from unnest(${texts}::text[]) with ordinality x(given, n) order by n`,
      )
      expect(rows.map(({ text }) => text)).toEqual(texts.map((text) => readableText(format, text)))
    }
    expect(readableText({ form: 'eventText', labels: {} }, texts[0] as string)).toBe(
      'Hak5 (Bash Bunny) Bunny (1209:6667), serial number c1',
    )
    await t.db.execute(sql`update events set details = ${texts[0]}`)
    const columns = ['details']
    const [, cells] = await recordsOf(await post('events/exporteventscsv', { form: 'readable', columns }))
    expect(cells).toEqual(['Hak5 (Bash Bunny) Bunny (1209:6667), serial number c1'])
    const [, fixed] = await recordsOf(await post('events/exporteventscsv', { columns }))
    expect(fixed).toEqual([texts[0]])
  })

  it('keeps hostile texts, and no cell runs as a formula', async () => {
    const rows = await recordsOf(await post('agents/exportagentcsv', { form: 'readable' }))
    const cells = rows.flat()
    for (const text of Object.values(hostile)) expect(cells).toContain(defuse(text))
    expect(cells.filter((cell) => /^[=+\-@\t\r\n]/.test(cell) && Number.isNaN(Number(cell)))).toEqual([])
    const nics = rows[0]?.indexOf('Network interfaces') ?? -1
    expect(rows.some((row) => row[nics]?.startsWith(", '=cmd; "))).toBe(true)
  })

  it('is chosen by a parameter that only CSV exports have', async () => {
    const admin = await t.admin()
    for (const form of [undefined, null, 'fixed'])
      expect((await post('agents/exportagentcsv', { form })).toString()).toMatch(
        /^\ufeffhostIdentifier,localIpAddress,uuid,/,
      )
    expect((await admin.get(`${api}/agents/AgentExportFile?form=readable`)).body).toMatch(
      /^\ufeffHost,Address,Host ID,/,
    )
    expect((await admin.get(`${api}/agents/AgentExportFile`)).body).toMatch(/^\ufeffhostIdentifier,/)
    for (const [path, body] of [
      ['agents/exportagentcsv', { form: 'pretty' }],
      ['agents/exportagentpdf/exportpdf', { form: 'readable' }],
    ] as const)
      expect((await admin.post(`${api}/${path}`, body)).statusCode, path).toBe(400)
  })
})

/** One host in the fixed form, byte for byte: connectors parse it. */
it('the fixed form does not change', async () => {
  const columns = [
    'hostIdentifier',
    'operationalStatus',
    'severity',
    'hasKnownAttackTools',
    'containsVulnerablePeripheralOrWLV',
    'approvedAndPresent',
    'lastUpdated',
    'expirationDate',
  ]
  const [agent] = (await pageOf<Agent>(t, 'agents?HostIdentifier=first')).data
  expect((await post('agents/exportagentcsv', { columns, hostIdentifier: 'first' })).toString()).toBe(
    '\ufeffhostIdentifier,operationalStatus,severity,hasKnownAttackTools,containsVulnerablePeripheralOrWLV,approvedAndPresent,lastUpdated,expirationDate\r\n' +
      `first,Free,10,false,"",1,${agent?.lastUpdated},""\r\n`,
  )
})

describe('a scheduled report', () => {
  it.each(reportListNames)('of %s has readable headings', async (list: ReportListName) => {
    const reports = reportsOf(t)
    const made = await reports.add({ list })
    expect(made.form).toBe('readable')
    const run = await reports.runNow(made.id)
    expect(run, run.error).toMatchObject({ state: 'completed' })
    const [head] = await recordsOf((await reports.file(run)).rawPayload)
    expect(head).toEqual(Object.values(columnsOf(reportLists[list].row)).map(({ heading }) => heading))
  })

  it('keeps the fixed form if it was chosen, or if it was saved before there was another', async () => {
    const reports = reportsOf(t)
    const chosen = await reports.add({ form: 'fixed' })
    const old = await reports.add({})
    await t.server.db.execute(
      sql`update report_schedules set definition = definition - 'form' where schedule_id = ${old.id}::uuid`,
    )
    for (const { id } of [chosen, old]) {
      expect((await reports.schedule(id)).form).toBe('fixed')
      const file = await reports.file(await reports.runNow(id))
      expect(file.body).toMatch(/^\ufeffhostIdentifier,/)
    }
  })
})
