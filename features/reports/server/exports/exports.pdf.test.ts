import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storageStick, unless } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { columnsOf, findingLabels, reportLists } from '#features/contract.ts'

const base = '/prime/webui/agents'
const agentsPdf = `${base}/exportagentpdf/exportpdf`
const modelsPdf = `${base}/peripheralsAggExportpdf/exportpdf`
const labels = columnsOf(reportLists.agents.row)
const headingOf = (key: string): string => labels[key]?.heading ?? ''
const whyNoTools =
  existsSync('/usr/bin/qpdf') && existsSync('/usr/bin/pdftotext') ? null : 'no qpdf or no pdftotext (poppler-utils)'

/** Host names in many scripts, including spoofed ones, to be found in the file. */
const names = {
  'Kasse-Süd (ÄÖÜß)': 'Kasse-Süd (ÄÖÜß)',
  'Ελληνικά Русский': 'Ελληνικά Русский',
  日本語キーボード: '日本語キーボード',
  '한국어 키보드': '한국어 키보드',
  हिन्दी: 'हिन्दी',
  'ไทย แป้นพิมพ์': 'ไทย แป้นพิมพ์',
  'לוח מקשים': 'לוח מקשים',
  'لوحة مفاتيح': 'لوحة مفاتيح',
  '\u{1F600} emoji': '\u{1F600} emoji',
  'pay\u202Efdp.exe': 'pay[U+202E]fdp.exe',
  'a\u200B\u200B\u200Bb': 'a[U+200B ×3]b',
  'line\nfeed': 'line[LF]feed',
  '(/JavaScript \\) endstream': '(/JavaScript \\) endstream',
  '\u{20000}': '[U+20000]',
  '\u{10FFFF}\u{10FFFF}': '[U+10FFFF ×2]',
  '=HYPERLINK("x")': '=HYPERLINK("x")',
  '<script>alert(1)</script>': '<script>alert(1)</script>',
} as const

let t: TestApp
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-pdf-'))
  t = await startTestApp({ listen: true })
  await enrolAgent(t, { facts: { hostname: 'first' }, devices: [storageStick()] })
  await insertFleet(t, 400)
  // Written to the tables directly: an agent would clean them, and the PDF must not rely on that.
  await t.server.db.execute(sql`
    with chosen as (select a.agent_id, row_number() over (order by a.agent_id) as n from agents a where a.host <> 'first')
    update agents a set host = (${Object.keys(names)}::text[])[c.n] from chosen c
    where c.agent_id = a.agent_id and c.n <= ${Object.keys(names).length}`)
  t.clock.advance(2_000)
})
afterAll(async () => {
  await t.close()
  rmSync(folder, { recursive: true, force: true })
})

const pdfOf = async (path: string, body?: unknown, app: TestApp = t): Promise<string> => {
  const answer = await (await app.admin()).post(path, body)
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  expect(answer.headers['content-type']).toBe('application/pdf')
  const file = join(folder, 'file.pdf')
  writeFileSync(file, answer.rawPayload)
  const checked = spawnSync('qpdf', ['--check', file], { encoding: 'utf8' })
  expect(`${checked.stdout}${checked.stderr}`).toContain('No syntax or stream encoding errors found')
  expect(checked.status).toBe(0)
  return file
}
/** Removes the direction marks that pdftotext adds around right-to-left text. */
const textOf = (file: string, ...options: string[]): string =>
  execFileSync('pdftotext', ['-enc', 'UTF-8', ...options, file, '-'], { encoding: 'utf8' }).replace(
    /[\u200e\u200f\u202a-\u202e]/g,
    '',
  )

/** Returns the headings of the table, which can have several lines. */
const headingsOf = (file: string): string[] =>
  [...execFileSync('pdfinfo', ['-struct-text', file], { encoding: 'utf8' }).matchAll(/TH:.*\n.*\n *"(.*)"/g)].map(
    ([, text]) => text ?? '',
  )

describe('a list as PDF', unless(whyNoTools), () => {
  it('describes its content, repeats its header and counts its pages', async () => {
    const { data } = await pageOf(t, 'agents?PageSize=1000&Severity=30,40&SortBy=-localIpAddress')
    const body = { severity: '30,40', sortBy: '-localIpAddress', columns: ['localIpAddress', 'severity', 'uuid'] }
    const text = textOf(await pdfOf(agentsPdf, body), '-layout')
    const pages = text.split('\f').slice(0, -1)
    expect(pages.length).toBeGreaterThan(3)
    const time = new Date(t.clock.now()).toISOString().slice(0, 19).replace('T', ' ')
    expect(pages[0]).toMatch(/^\s*Hosts\n/)
    expect(pages[0]).toContain(
      'Rows where Finding is Vulnerable or Suspected attack tool; sorted by Address, descending',
    )
    expect(pages[0]).toContain(`Created ${time} UTC for admin: ${data.length} rows. All times are UTC`)
    pages.forEach((page, i) => {
      expect(page).toMatch(/Address +Finding +Host ID/)
      expect(page).toContain(`Page ${i + 1} of ${pages.length}`)
    })
    const rows = [...text.matchAll(/^ *(\S+) +(\S.*?) +([\da-f-]{36})$/gm)].map(([, address, severity, uuid]) => [
      address,
      severity,
      uuid,
    ])
    expect(rows).toEqual(data.map((agent) => [agent.localIpAddress, findingLabels[agent.severity], agent.uuid]))
  })

  it('shows text in every script, and names characters that it cannot or must not show', async () => {
    const text = textOf(await pdfOf(agentsPdf, { columns: ['hostIdentifier', 'severity'] }))
    const missing = Object.values(names).filter((shown) => !text.includes(shown))
    expect(missing).toEqual([])
  })

  it('of agents is A4 with the ten most useful columns by default', async () => {
    // pdfinfo needs 5 s for the structure of 400 rows.
    const few = await startTestApp({ listen: true })
    try {
      await enrolAgent(few, { facts: { hostname: 'first' }, devices: [storageStick()] })
      await insertFleet(few, 40)
      await few.server.db.execute(
        sql`update agents set host = ${'a'.repeat(200)}, address = ${'fd00:1111:2222:3333:4444:5555:6666:7777'} where host = 'first'`,
      )
      for (const body of [undefined, null, {}, { columns: [] }, { columns: null, sortBy: 'uuid' }]) {
        const file = await pdfOf(agentsPdf, body, few)
        expect(execFileSync('pdfinfo', [file], { encoding: 'utf8' })).toMatch(/^Page size: +841\.89 x 595\.28 pts/m)
        const headings = reportLists.agents.file.pdf.map((key) => headingOf(key))
        expect(headings).toHaveLength(10)
        expect(headingsOf(file)).toEqual(headings)
      }
    } finally {
      await few.close()
    }
  })

  it('shows every column on request', async () => {
    const file = await pdfOf(agentsPdf, { columns: ['*'], hostIdentifier: 'first' })
    const { data } = await pageOf(t, 'agents?PageSize=1')
    const keys = Object.keys(data[0] as object)
    expect(new Set(headingsOf(file))).toEqual(new Set(keys.map((key) => headingOf(key))))
  })

  it('breaks wide text and visibly cuts off long text', async () => {
    await t.server.db.execute(
      sql`update agents set nics_text = ${`${'02:00:00:00:00:01||vendor||eth0**'.repeat(200)}END`} where host = 'first'`,
    )
    const text = textOf(await pdfOf(agentsPdf, { hostIdentifier: 'first', columns: ['hostIdentifier', 'nicsText'] }))
    expect(text.match(/02:00:00:00:00:01/g)?.length).toBeGreaterThan(8)
    expect(text).toContain('…')
    expect(text).not.toContain('END')
  })

  it('of models contains the rows of the list', async () => {
    const text = textOf(await pdfOf(modelsPdf, { columns: ['vid', 'peripheralsCount', 'approvedCount'] }), '-layout')
    expect(text).toContain('Devices by model')
    expect(text).toMatch(/^ *[0-9A-F]{4} +1 +1$/m)
  })

  it('without rows is a valid file', async () => {
    expect(textOf(await pdfOf(agentsPdf, { uuid: 'nobody' }))).toContain('0 rows')
  })
})

describe('a PDF', () => {
  it('rejects the same requests as the CSV', async () => {
    const answer = await (await t.admin()).post(agentsPdf, { columns: ['hostname'] })
    expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, 'body.columns[0]'])
  })

  it('waits for its turn, and is refused with a retry time above the limit', async () => {
    const admin = await t.admin()
    // Empty files, so that the twenty that wait get their turn in time on any machine.
    const answers = await Promise.all(Array.from({ length: 40 }, () => admin.post(agentsPdf, { uuid: 'nobody' })))
    const statuses = answers.map((answer) => answer.statusCode)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10)
    const refused = answers.find((answer) => answer.statusCode === 429)
    expect([refused?.headers['retry-after'], refused?.json().code]).toEqual(['5', 'too_many_requests'])
    expect((await admin.post(agentsPdf)).statusCode).toBe(200)
  })

  it('whose reader leaves frees its slot', async () => {
    const authorization = `Bearer ${await t.signIn()}`
    for (let n = 0; n < 12; n++) {
      const stop = new AbortController()
      const asked = fetch(t.address + agentsPdf, { method: 'POST', headers: { authorization }, signal: stop.signal })
      if (n % 2 === 0) stop.abort()
      else await asked.then(() => stop.abort())
      await asked.catch(() => {})
    }
    expect((await (await t.admin()).post(agentsPdf)).statusCode).toBe(200)
  })

  it('of more than 10,000 rows is refused with a hint at the CSV', async () => {
    await insertFleet(t, 10_000)
    t.clock.advance(2_000)
    const answer = await (await t.admin()).post(agentsPdf, { columns: ['uuid'] })
    expect(answer.statusCode).toBe(422)
    expect(answer.json()).toMatchObject({ code: 'unprocessable', detail: expect.stringContaining('exportagentcsv') })
    expect(answer.json().detail).toContain('10,401')
    const filtered = await (await t.admin()).post(agentsPdf, { severity: 50, columns: ['uuid'] })
    expect(filtered.statusCode).toBe(200)
  })
})
