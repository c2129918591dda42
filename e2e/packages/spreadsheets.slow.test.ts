import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import {
  type CellForm,
  columnsOf,
  type ReportListName,
  reportListNames,
  reportLists,
} from '@portcullis/features/contract.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { undefuse } from '../../platform/server/csv.ts'
import {
  createTree,
  type RunningServer,
  remove,
  type Started,
  startAgent,
  startServer,
  temporaryDir,
  until,
} from '../../proof/kit/harness.ts'
import { allCsvRecords } from '../../server/test/csv.ts'

const program = '/usr/bin/soffice'
const reason = existsSync(program) ? undefined : `no ${program}`
/** Writes every worksheet as CSV, with cells as they are shown. */
const asShown = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1'
/** IDs and serial numbers that a spreadsheet reads as numbers, dates or formulas if it may. */
const devices = [
  storageStick({ vid: '05E3', pid: '1E04', serial: '000123456789012345678', portPath: '1-1' }),
  storageStick({ vid: '04E8', pid: '0E10', serial: '2026-11-27', portPath: '1-2', product: '=1+1' }),
  storageStick({ vid: '0608', pid: '0012', serial: '0012', portPath: '1-3', product: '1E5' }),
  plainKeyboard({ portPath: '1-4', serial: 'TRUE', product: '"a";=b\u202e<c>, d' }),
  plainKeyboard({ portPath: '1-5', manufacturer: 'x;=1+1', product: 'x|"@SUM(1)";y,=1+1,z' }),
]

let server: RunningServer
let agent: Started
let token: string
const dirs: string[] = []
const folder = (): string => {
  const dir = temporaryDir()
  dirs.push(dir)
  return dir
}

beforeAll(async () => {
  if (reason !== undefined) return
  server = await startServer(folder())
  agent = startAgent(server, await server.enrolmentToken(), createTree(devices), folder())
  await until('four devices', async () => {
    const [host] = await server.agents()
    return host !== undefined && (await server.peripherals(host.uuid)).length === devices.length
  })
  token = await server.signIn()
})
afterAll(async () => {
  if (reason !== undefined) return
  agent.child.kill('SIGTERM')
  await agent.ended
  await server.stop()
  for (const dir of dirs) remove(dir)
})

const file = async (list: ReportListName, kind: object): Promise<Buffer> => {
  const answer = await fetch(`${server.url}/prime/webui/reports/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ list, ...kind }),
  })
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

const cellsOf = async (bytes: Buffer): Promise<string[][]> =>
  (await allCsvRecords(bytes)).map((record) => ('cells' in record ? [...record.cells] : [record.fault]))

/** Writes the files to a folder, lets LibreOffice convert them there, and returns the folder of the results. */
const converted = (files: Readonly<Record<string, Buffer>>, to: string, ...options: readonly string[]): string => {
  const dir = folder()
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(dir, name), bytes)
  const done = spawnSync(
    program,
    [
      ...[`-env:UserInstallation=file://${dir}/profile`, '--headless', '--convert-to', to],
      ...[...options, '--outdir', join(dir, 'out')],
      ...Object.keys(files).map((name) => join(dir, name)),
    ],
    { encoding: 'utf8', timeout: 180_000, env: { PATH: process.env.PATH ?? '', HOME: dir } },
  )
  expect(done.status, done.stderr).toBe(0)
  return join(dir, 'out')
}

/** Opens files in LibreOffice and returns the rows of their first worksheets as it shows them. */
const opened = async (
  files: Readonly<Record<string, Buffer>>,
  ...options: readonly string[]
): Promise<Map<string, string[][]>> => {
  const out = converted(files, asShown, ...options)
  const shown = new Map<string, string[][]>()
  for (const name of Object.keys(files)) {
    const stem = name.replace(/\.\w+$/, '')
    const sheets = readdirSync(out).filter((one) => one.startsWith(`${stem}-`))
    const first = sheets.find((one) => !one.endsWith('-About.csv')) ?? ''
    shown.set(name, await cellsOf(readFileSync(join(out, first))))
  }
  return shown
}

/** Returns what a spreadsheet shows for a cell of the readable CSV. */
const shownOf = (form: CellForm, cell: string): string => {
  const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z/
  if (form === 'truth') return { yes: 'TRUE', no: 'FALSE' }[cell] ?? cell
  if (form === 'hex') return cell.replace(/^0x/, '')
  if (form === 'time' || form === 'zoneless' || form === 'timedText') return cell.replace(time, '$1 $2')
  return undefuse(cell)
}

/** A spreadsheet rounds times to the second that it shows. */
const isSame = (form: CellForm, shown: string, expected: string): boolean =>
  shown === expected ||
  ((form === 'time' || form === 'zoneless') && Math.abs(Date.parse(shown) - Date.parse(expected)) <= 1_000)

describe('files in LibreOffice', unless(reason), () => {
  it('a workbook of each list shows every cell of the list', { timeout: 300_000 }, async () => {
    const workbooks: Record<string, Buffer> = {}
    const expected = new Map<string, string[][]>()
    for (const list of reportListNames) {
      workbooks[`${list}.xlsx`] = await file(list, { format: 'xlsx' })
      expected.set(`${list}.xlsx`, await cellsOf(await file(list, { format: 'csv', form: 'readable' })))
    }
    const shown = await opened(workbooks)
    let cells = 0
    for (const list of reportListNames) {
      const forms = Object.values(columnsOf(reportLists[list].row)).map(({ form }) => form)
      const [head, ...rows] = shown.get(`${list}.xlsx`) ?? []
      const [wantedHead, ...wanted] = expected.get(`${list}.xlsx`) ?? []
      expect(head, list).toEqual(wantedHead)
      // Time passes between the two files, so the trail of audit records and of events grows.
      const common = Math.min(rows.length, wanted.length)
      if (list !== 'audit' && list !== 'events') expect(rows.length, list).toBe(wanted.length)
      const [ours, theirs] = [rows.slice(-common), wanted.slice(-common)]
      for (const [r, row] of theirs.entries())
        for (const [c, cell] of row.entries()) {
          cells++
          const form = forms[c] as CellForm
          const [seen, want] = [ours[r]?.[c] ?? '', shownOf(form, cell)]
          expect(isSame(form, seen, want), `${list}, row ${r}, ${wantedHead?.[c]}: ${seen} instead of ${want}`).toBe(
            true,
          )
        }
    }
    expect(cells).toBeGreaterThan(300)
  })

  it('a readable CSV keeps IDs as text', async () => {
    const columns = ['vid', 'pid', 'bcdDevice', 'classCode', 'hostIdentifier']
    const bytes = await file('peripherals', { format: 'csv', form: 'readable', columns })
    const shown = (await opened({ 'devices.csv': bytes }, '--infilter=CSV:44,34,76')).get('devices.csv')
    expect(shown).toEqual(await cellsOf(bytes))
    expect(shown?.flat()).toEqual(expect.arrayContaining(['0x05E3', '0x1E04', '0x0E10', '0x0012', '0x0608']))
  })

  it('runs no text of a device as a formula, whichever separator and quotes it expects', {
    timeout: 300_000,
  }, async () => {
    const files = {
      'fixed.csv': await file('peripherals', { format: 'csv', form: 'fixed' }),
      'readable.csv': await file('peripherals', { format: 'csv', form: 'readable' }),
      'raw.csv': Buffer.from('a,"x;=1+1|=1+1\t=1+1,=1+1",b\r\n'),
    }
    for (const separator of [44, 59, 9, 124])
      for (const quote of [34, 0]) {
        const evaluated = `${separator},${quote},76,1,,0,false,true,false,false,false,0,true`
        const out = converted(files, 'fods', `--infilter=CSV:${evaluated}`)
        const formulas = Object.keys(files).map(
          (name) =>
            readFileSync(join(out, name.replace('.csv', '.fods')), 'utf8').match(/table:formula="[^"]*"/g) ?? [],
        )
        expect(formulas.slice(0, 2), evaluated).toEqual([[], []])
        // The same text without protection runs, unless its quotes count.
        expect(formulas[2]?.length, evaluated).toBe(separator === 44 && quote === 34 ? 0 : 1)
      }
  })
})
