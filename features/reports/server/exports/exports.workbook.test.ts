import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { inflateRawSync } from 'node:zlib'
import { storageStick } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { reportsOf } from '@portcullis/server/test/reports.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { columnsOf, type Peripheral, reportListNames, reportLists } from '#features/contract.ts'
import { streamWorkbook } from './xlsx/workbook.ts'

const api = '/prime/webui'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await enrolAgent(t, {
    facts: { hostname: 'first' },
    devices: [
      storageStick({ vid: '05E3', pid: '1E04', serial: '000123456789012345678', portPath: '1-1', product: '=1+1' }),
      storageStick({ vid: '0E10', pid: '0012', serial: '2026-11-27', portPath: '1-2', product: 'a <b> & "c" _x0041_' }),
    ],
  })
  await insertFleet(t, 40)
  t.clock.advance(2_000)
})
afterAll(() => t.close())

/** Returns the files of a ZIP archive, from its central directory. */
const unzip = (archive: Buffer): Map<string, string> => {
  const files = new Map<string, string>()
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  let at = archive.readUInt32LE(end + 16)
  for (let n = archive.readUInt16LE(end + 10); n > 0; n--) {
    const [size, nameLength, extra, comment] = [20, 28, 30, 32].map((offset) =>
      offset === 20 ? archive.readUInt32LE(at + offset) : archive.readUInt16LE(at + offset),
    ) as [number, number, number, number]
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    const local = archive.readUInt32LE(at + 42)
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    files.set(name, inflateRawSync(archive.subarray(start, start + size)).toString())
    at += 46 + nameLength + extra + comment
  }
  return files
}

const plain = (xml: string): string =>
  xml
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replace(/_x([0-9A-F]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('&amp;', '&')

type Cell = { style: string; type: string; value: string }
/** Returns the rows of a worksheet, each with its cells by column. */
const cellsOf = (sheet: string): Map<string, Cell>[] =>
  [...sheet.matchAll(/<row r="\d+">(.*?)<\/row>/gs)].map(
    ([, row = '']) =>
      new Map(
        [...row.matchAll(/<c r="([A-Z]+)\d+"(?: s="(\d)")?(?: t="(\w+)")?>(?:<v>|<is><t[^>]*>)(.*?)<\/(?:v|t)>/gs)].map(
          ([, column = '', style = '0', type = 'n', value = '']) => [column, { style, type, value: plain(value) }],
        ),
      ),
  )

const workbook = async (body: object) => {
  const answer = await (await t.admin()).post(`${api}/reports/export`, { format: 'xlsx', ...body })
  expect(answer.statusCode, answer.body.slice(0, 300)).toBe(200)
  return { answer, files: unzip(answer.rawPayload) }
}
const sheetOf = (files: Map<string, string>, n = 1): string => files.get(`xl/worksheets/sheet${n}.xml`) ?? ''

describe('a workbook', () => {
  it('has typed cells, a frozen header and a filter over all rows', async () => {
    const columns = ['vid', 'pid', 'serialNumber', 'description', 'speed', 'present', 'lastSeen', 'severity']
    const { answer, files } = await workbook({
      ...{ list: 'peripherals', columns, filter: { hostIdentifier: 'first' }, sortBy: 'pid_desc' },
    })
    expect(answer.headers['content-type']).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')
    expect(answer.headers['content-disposition']).toContain('.xlsx"')
    const [head, first, second] = cellsOf(sheetOf(files))
    const labels = columnsOf(reportLists.peripherals.row)
    expect([...(head?.values() ?? [])].map(({ value }) => value)).toEqual(columns.map((key) => labels[key]?.heading))
    const texts = ['A', 'B', 'C', 'D'].map((column) => first?.get(column))
    expect(texts.map((cell) => cell?.value)).toEqual(['05E3', '1E04', '000123456789012345678', '=1+1'])
    expect(texts.every((cell) => cell?.type === 'inlineStr' && cell.style === '1')).toBe(true)
    expect(second?.get('B')?.value).toBe('0012')
    expect(second?.get('C')?.value).toBe('2026-11-27')
    expect(second?.get('D')?.value).toBe('a <b> & "c" _x0041_')
    const [, device] = (await pageOf<Peripheral>(t, 'peripherals?hostIdentifier=first&SortBy=pid_asc')).data
    expect(first?.get('E')).toEqual({ style: '0', type: 'n', value: String(device?.speed) })
    expect(first?.get('F')).toEqual({ style: '0', type: 'b', value: '1' })
    const seen = first?.get('G')
    expect(seen?.style).toBe('3')
    expect(Math.round((Number(seen?.value) - 25_569) * 86_400_000)).toBe(Date.parse(`${device?.lastSeen}Z`))
    expect(first?.get('H')?.value).toBe('No findings')
    expect(sheetOf(files)).toContain('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>')
    expect(sheetOf(files)).toContain('<autoFilter ref="A1:H3"/>')
  })

  it('says on its last worksheet what it contains', async () => {
    const { files } = await workbook({ list: 'agents', filter: { hostIdentifier: 'first' } })
    const lines = cellsOf(sheetOf(files, 2)).map((row) => row.get('A')?.value)
    expect(lines).toEqual([
      'About this file',
      'Hosts',
      expect.stringContaining('first'),
      expect.stringContaining('admin'),
      'All times are in UTC.',
    ])
  })

  it.each(reportListNames)('contains the list %s with every column', async (list) => {
    const { files } = await workbook({ list })
    const [head] = cellsOf(sheetOf(files))
    expect(head?.size).toBe(Object.keys(reportLists[list].row.properties).length)
  })

  it('is a format of scheduled reports, which count its rows', async () => {
    const reports = reportsOf(t)
    const made = await reports.add({ format: 'xlsx' })
    const run = await reports.runNow(made.id)
    expect(run, run.error).toMatchObject({ state: 'completed', rows: 41, fileName: expect.stringMatching(/\.xlsx$/) })
    expect(cellsOf(sheetOf(unzip((await reports.file(run)).rawPayload)))).toHaveLength(42)
  })

  it('refuses unknown columns and filters and names them', async () => {
    const admin = await t.admin()
    for (const [wrong, name] of [
      [{ columns: ['hostname'] }, 'columns[0]'],
      [{ filter: { hostname: 'x' } }, 'filter.hostname'],
    ] as const) {
      const answer = await admin.post(`${api}/reports/export`, { list: 'agents', format: 'xlsx', ...wrong })
      expect(answer.statusCode).toBe(400)
      expect(answer.body).toContain(name)
    }
    expect(Object.keys(reportLists.agents.row.properties).length).toBeGreaterThan(30)
  })
})

describe('the writer of workbooks', () => {
  const column = { heading: 'Text', kind: 'text', form: 'plain', labels: {} } as const
  const made = (rows: string, sheetRows: number, bytes = 3 * 1024 ** 3) =>
    buffer(
      streamWorkbook(
        { title: 'A: [long] title / that exceeds a name', columns: [column], about: ['about'], at: 0 },
        Readable.from([Buffer.from(rows)]),
        { rows: sheetRows, bytes },
      ),
    )

  it('continues on another worksheet with its header when one is full', async () => {
    const files = unzip(await made('1\n2\n3\n4\n5\n', 2))
    expect([1, 2, 3].map((n) => cellsOf(sheetOf(files, n)).map((row) => row.get('A')?.value))).toEqual([
      ['Text', '1', '2'],
      ['Text', '3', '4'],
      ['Text', '5'],
    ])
    expect(sheetOf(files, 3)).toContain('ref="A1:A2"')
    expect([...(files.get('xl/workbook.xml') ?? '').matchAll(/name="([^"]+)"/g)].map(([, name]) => name)).toEqual([
      'A   long  title   that exceeds ',
      'A   long  title   that exce (2)',
      'A   long  title   that exce (3)',
      'About',
    ])
  })

  it('counts the bytes of a worksheet, not its characters', async () => {
    const rows = `${'装'.repeat(1_000)}\n`.repeat(300)
    const files = unzip(await made(rows, 1_000, 300_000))
    const sizes = [1, 2, 3].map((n) => Buffer.byteLength(sheetOf(files, n)))
    expect(Math.max(...sizes)).toBeLessThan(500_000)
  })

  it('keeps control characters, and cuts what no cell holds', async () => {
    const [, control, long] = cellsOf(sheetOf(unzip(await made(`a\\b\\r\x1fb\n${'x'.repeat(40_000)}\n`, 10))))
    expect(control?.get('A')?.value).toBe('a\b\r\x1fb')
    expect(long?.get('A')?.value).toHaveLength(32_767)
    expect(long?.get('A')?.value).toMatch(/ … \(cut: a cell holds 32,767 characters\)$/)
  })

  it('stops reading rows when its reader leaves', async () => {
    let isClosed = false
    async function* endless() {
      try {
        for (;;) yield Buffer.from('row\n'.repeat(10_000))
      } finally {
        isClosed = true
      }
    }
    const body = streamWorkbook({ title: 'x', columns: [column], about: [], at: 0 }, Readable.from(endless()))
    for await (const _ of body) break
    await expect.poll(() => isClosed).toBe(true)
  })

  it('ends with an error if the rows do', async () => {
    // biome-ignore lint/correctness/useYield: it fails before its first row.
    async function* failing(): AsyncGenerator<Buffer> {
      throw new Error('the database ended')
    }
    const body = streamWorkbook({ title: 'x', columns: [column], about: [], at: 0 }, Readable.from(failing()))
    await expect(buffer(body)).rejects.toThrow('the database ended')
  })
})
