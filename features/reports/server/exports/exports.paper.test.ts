import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { storageStick, unless } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { reportsOf } from '@portcullis/server/test/reports.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agent, columnsOf, maxTaggedRows, reportListNames, reportLists } from '#features/contract.ts'

const agentsPdf = '/prime/webui/agents/exportagentpdf/exportpdf'
const labels = columnsOf(reportLists.agents.row)
const headingOf = (key: string): string => labels[key]?.heading ?? ''
const portrait = '595.28 x 841.89 pts (A4)'
const landscape = '841.89 x 595.28 pts (A4)'
const whyNoTools =
  existsSync('/usr/bin/qpdf') && existsSync('/usr/bin/pdftotext') ? null : 'no qpdf or no pdftotext (poppler-utils)'

let t: TestApp
let folder: string
let file: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-paper-'))
  file = join(folder, 'file.pdf')
  t = await startTestApp({ listen: true })
  await enrolAgent(t, { facts: { hostname: 'first' }, devices: [storageStick()] })
  await insertFleet(t, 120)
  t.clock.advance(2_000)
})
afterAll(async () => {
  await t.close()
  rmSync(folder, { recursive: true, force: true })
})

const check = (bytes: Buffer): void => {
  writeFileSync(file, bytes)
  const checked = spawnSync('qpdf', ['--check', file], { encoding: 'utf8' })
  expect(checked.status, checked.stdout + checked.stderr).toBe(0)
}
const print = async (body?: unknown): Promise<void> => {
  const answer = await (await t.admin()).post(agentsPdf, body)
  expect(answer.statusCode, answer.body.slice(0, 400)).toBe(200)
  check(answer.rawPayload)
}
const run = (tool: string, ...options: string[]): string => execFileSync(tool, [...options], { encoding: 'utf8' })
const sizesOf = (): string[] =>
  [...run('pdfinfo', '-f', '1', '-l', '9999', file).matchAll(/^Page +\d+ size: +(.*)$/gm)].map(([, size]) => size ?? '')
const pagesOf = (): string[] => run('pdftotext', '-layout', file, '-').split('\f').slice(0, -1)
/** Returns the elements of the structure with their own texts, in order. */
const structureOf = (): { role: string; text: string }[] => {
  const elements: { role: string; text: string }[] = []
  for (const line of run('pdfinfo', '-struct-text', file).split('\n')) {
    const [, role] = /^\s*(Document|Figure|H1|P|Table|TR|TH|TD)\b(?=[: (]|$)/.exec(line) ?? []
    const [, text] = /^\s*"(.*)"$/.exec(line) ?? []
    if (role !== undefined) elements.push({ role, text: '' })
    else if (text !== undefined) (elements.at(-1) as { text: string }).text += text
  }
  return elements
}
/** Returns the headings of each table. */
const tablesOf = (): string[][] => {
  const tables: string[][] = []
  for (const { role, text } of structureOf()) {
    if (role === 'Table') tables.push([])
    if (role === 'TH') tables.at(-1)?.push(text)
  }
  return tables
}
const catalogueOf = (): string => {
  const root = /\/Root (\d+) 0 R/.exec(run('qpdf', '--show-object=trailer', file))?.[1] ?? ''
  return run('qpdf', `--show-object=${root}`, file)
}

describe('the paper of a PDF', unless(whyNoTools), () => {
  it('is A4, upright for few columns and across for more', async () => {
    await print({ columns: ['hostIdentifier', 'localIpAddress', 'severity'] })
    expect(new Set(sizesOf())).toEqual(new Set([portrait]))
    await print()
    expect(new Set(sizesOf())).toEqual(new Set([landscape]))
  })

  it('shows columns that do not fit on further pages, each with the first column', async () => {
    const { data } = await pageOf<Agent>(t, 'agents?PageSize=1000&SortBy=hostIdentifier_asc')
    await print({ columns: ['*'], sortBy: 'hostIdentifier_asc' })
    expect(new Set(sizesOf())).toEqual(new Set([landscape]))
    const pages = pagesOf()
    const bands = pages.map((page) => / columns (\d+) to (\d+) of (\d+)/.exec(page)?.slice(1).map(Number) ?? [])
    const keys = Object.keys(data[0] as Agent)
    const each = bands.findIndex(([, to]) => to === keys.length) + 1
    expect(each).toBeGreaterThan(1)
    expect(pages.length % each).toBe(0)
    const firstBands = bands.slice(0, each)
    const tables = tablesOf()
    expect(tables).toHaveLength(each)
    firstBands.forEach(([from, to, of], i) => {
      expect([from, of]).toEqual([i === 0 ? 1 : (firstBands[i - 1]?.[1] ?? 0) + 1, keys.length])
      const shown = keys.slice((from ?? 1) - 1, to)
      expect(tables[i]).toEqual([...new Set(['hostIdentifier', ...shown])].map(headingOf))
    })
    pages.forEach((page, i) => {
      expect(page).toContain(`Page ${i + 1} of ${pages.length}`)
      expect(bands[i]).toEqual(bands[i % each])
    })
    // Each row appears once per band.
    const text = pages.join('\n')
    expect(text.match(/\bfirst\b/g)).toHaveLength(each)
  })

  it('has the columns that the console shows on one page, under headings of several lines', async () => {
    const columns = [
      'hostIdentifier',
      'displayStatusCombined',
      'operationalStatus',
      'riskScore',
      'severity',
      'hasKnownAttackTools',
      'hasVulnerablePeripherals',
      'hasUnapprovedPeripherals',
      'approvedAndPresent',
      'notApproved',
      'hashtags',
      'localIpAddress',
      'osVersion',
      'lastUpdated',
    ]
    await print({ columns })
    expect(tablesOf()).toEqual([columns.map(headingOf)])
    expect(pagesOf()[0]).not.toMatch(/ columns \d+ to /)
    // The heading has several lines.
    expect(pagesOf()[0]).not.toContain('Has vulnerable devices')
  })

  it('starts with the logo, the title, the filters, the time and a summary', async () => {
    const { data } = await pageOf<Agent>(t, 'agents?PageSize=1000&DeploymentMode=Agent')
    await print({ deploymentMode: 'agent', severity: '>=10' })
    const [first = '', second = ''] = pagesOf()
    const time = new Date(t.clock.now()).toISOString().slice(0, 19).replace('T', ' ')
    expect(first).toContain('Rows where Deployment is Agent, and Finding is No findings or higher')
    expect(first).toContain(`Created ${time} UTC for admin: ${data.length} rows. All times are UTC`)
    const count = (key: keyof Agent, value: unknown) => data.filter((agent) => agent[key] === value).length
    const status = /^ *Status: (.*)$/m.exec(first)?.[1] ?? ''
    for (const value of new Set(data.map(({ displayStatusCombined }) => displayStatusCombined)))
      expect(status.split(', ')).toContain(`${count('displayStatusCombined', value)} ${value}`)
    const finding = /^ *Finding: (.*)$/m.exec(first)?.[1] ?? ''
    expect(finding.split(', ')).toContain(`${count('severity', 50)} Confirmed attack tool`)
    expect(second).not.toContain('Created')
    expect(second).toContain(`Hosts, ${time} UTC`)
  })
})

describe('a PDF for assistive technology', unless(whyNoTools), () => {
  it('has a title, a language and a table with one header, without what repeats', async () => {
    const columns = ['hostIdentifier', 'displayStatusCombined', 'lastUpdated', 'hashtags']
    const { data } = await pageOf<Agent>(t, 'agents?PageSize=1000&SortBy=hostIdentifier_asc')
    await print({ columns, sortBy: 'hostIdentifier_asc' })
    expect(run('pdfinfo', file)).toMatch(/^Title: +Hosts$(?:.|\n)*^Tagged: +yes$/m)
    expect(catalogueOf()).toMatch(/\/Lang \(en\)/)
    expect(catalogueOf()).toMatch(/\/StructTreeRoot/)
    expect(pagesOf().length).toBeGreaterThan(1)
    const elements = structureOf()
    const of = (role: string) => elements.filter((element) => element.role === role)
    expect(elements.slice(0, 3).map(({ role }) => role)).toEqual(['Document', 'Figure', 'H1'])
    expect(of('H1')).toEqual([{ role: 'H1', text: 'Hosts' }])
    expect(of('P').map(({ text }) => text)).toEqual(
      expect.arrayContaining(['All rows; sorted by Host', expect.stringMatching(/^Created .* for admin: 121 rows/)]),
    )
    expect(of('Table')).toHaveLength(1)
    expect(of('TH').map(({ text }) => text)).toEqual(columns.map(headingOf))
    expect(of('TR')).toHaveLength(data.length + 1)
    expect(of('TD')).toHaveLength(data.length * columns.length)
    const cells = of('TD').map(({ text }) => text)
    const plain = data.findIndex(({ hostIdentifier }) => hostIdentifier === 'first')
    expect(cells.slice(plain * columns.length, (plain + 1) * columns.length)).toEqual([
      'first',
      data[plain]?.displayStatusCombined,
      data[plain]?.lastUpdated.slice(0, 19).replace('T', ' '),
      '',
    ])
    expect(elements.some(({ text }) => /^Page \d/.test(text))).toBe(false)
  })

  it('gives texts in the order in which they are read, even if they are broken or run to the left', async () => {
    const names = ['לוח מקשים 12', 'لوحة مفاتيح', `${'long-'.repeat(40)}name`, 'pay\u202Efdp.exe', '\u{1F600} emoji']
    await t.server.db.execute(sql`
      with chosen as (select a.agent_id, row_number() over (order by a.agent_id) as n from agents a where a.host <> 'first')
      update agents a set host = (${names}::text[])[c.n] from chosen c
      where c.agent_id = a.agent_id and c.n <= ${names.length}`)
    await print({ columns: ['hostIdentifier', 'severity'] })
    const objects = execFileSync('qpdf', ['--qdf', '--object-streams=disable', file, '-'], { encoding: 'latin1' })
    const texts = [...objects.matchAll(/\/ActualText (?:<feff([\da-f]+)>|\((.*)\))/g)].map(
      ([, hex = '', plain]) => plain ?? Buffer.from(hex, 'hex').swap16().toString('utf16le'),
    )
    expect(texts.toSorted()).toEqual(expect.arrayContaining([names[0], names[1], names[2]].toSorted() as string[]))
    const shown = structureOf().map(({ text }) => text)
    for (const name of names.slice(2)) expect(shown).toContain(name.replace('\u202E', '[U+202E]'))
  })

  it('escapes its title in the metadata', async () => {
    const reports = reportsOf(t)
    const name = 'Weekly <b>hosts</b> & "more"'
    const made = await reports.add({ name, format: 'pdf' })
    check((await reports.file(await reports.runNow(made.id))).rawPayload)
    const metadata = run('pdfinfo', '-meta', file)
    expect(metadata).toContain('Weekly &lt;b&gt;hosts&lt;/b&gt; &amp; &quot;more&quot;')
    expect(metadata).not.toContain('<b>')
    expect(run('pdfinfo', file)).toContain(`Title:           ${name}`)
  })

  it('says on its first page and in its metadata if it is too large to be tagged', async () => {
    await insertFleet(t, maxTaggedRows)
    t.clock.advance(2_000)
    await print({ columns: ['hostIdentifier'] })
    const info = run('pdfinfo', file)
    expect(info).toMatch(/^Tagged: +no$/m)
    expect(info).toMatch(/^Subject: +Not tagged for assistive technology, because it has more than 2,000 rows$/m)
    expect(run('pdfinfo', '-meta', file)).toContain('Not tagged for assistive technology')
    const [first, second] = pagesOf()
    expect(first).toContain('Not tagged for assistive technology, because it has more than 2,000 rows')
    expect(second).not.toContain('Not tagged')
    expect(catalogueOf()).not.toContain('StructTreeRoot')
  })
})

/** Returns a PNG of one colour as a data URI. */
const png = (width: number, height: number, damage?: Buffer): string => {
  const chunk = (kind: string, body: Buffer) => {
    const size = Buffer.alloc(4)
    size.writeUInt32BE(body.length)
    return Buffer.concat([size, Buffer.from(kind), body, Buffer.alloc(4)])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // A damaged one is interlaced.
  header.set([8, 6, 0, 0, damage === undefined ? 0 : 1], 8)
  const lines = Buffer.concat(
    Array.from({ length: height }, () => Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 4, 'abcd')])),
  )
  const data = damage ?? deflateSync(lines)
  const file = [Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header), chunk('IDAT', data)]
  return `data:image/png;base64,${Buffer.concat([...file, chunk('IEND', Buffer.alloc(0))]).toString('base64')}`
}

describe('the logo of a PDF', unless(whyNoTools), () => {
  const imagesOf = (): string[] => run('pdfimages', '-list', file).trimEnd().split('\n').slice(2)
  it('is that of the organisation, otherwise that of the product', async () => {
    const admin = await t.admin()
    const save = async (CUSTOM_LOGIN_LOGO: string) => {
      const saved = await admin.post('/prime/webui/generalconfig/AddOrUpdateCustomLogin', { CUSTOM_LOGIN_LOGO })
      expect(saved.statusCode, saved.body).toBe(200)
    }
    const body = { columns: ['hostIdentifier'], hostIdentifier: 'first' }
    await print(body)
    expect(imagesOf()).toEqual([])
    await save(png(120, 40))
    // The exports read the setting from a cache, which follows a moment later.
    const printed = async () => {
      await print(body)
      return imagesOf().length
    }
    await expect.poll(printed).toBe(2)
    expect(imagesOf().map((line) => line.trim().split(/ +/).slice(2, 5))).toEqual([
      ['image', '120', '40'],
      ['smask', '120', '40'],
    ])
    expect(structureOf()[1]?.role).toBe('Figure')
    // The settings check the header only.
    await save(png(30, 30, Buffer.from('not compressed')))
    await expect.poll(printed).toBe(0)
    await save(png(30, 30))
    await expect.poll(printed).toBe(2)
    // Unpacks to 200 MB.
    await save(png(30, 30, deflateSync(Buffer.alloc(200_000_000))))
    await expect.poll(printed).toBe(0)
    expect(pagesOf()[0]).toContain('first')
  })
})

it.each(reportListNames)('a report of %s has the most useful columns on one A4 page side by side', async (list) => {
  if (whyNoTools !== null) return
  const reports = reportsOf(t)
  const made = await reports.add({ list, format: 'pdf', filter: list === 'agents' ? { hostIdentifier: 'first' } : {} })
  const report = await reports.runNow(made.id)
  expect(report, report.error).toMatchObject({ state: 'completed' })
  check((await reports.file(report)).rawPayload)
  for (const size of sizesOf()) expect([portrait, landscape]).toContain(size)
  const [first = ''] = pagesOf()
  const names = columnsOf(reportLists[list].row)
  if (report.rows <= maxTaggedRows)
    expect(tablesOf()).toEqual([reportLists[list].file.pdf.map((key) => names[key]?.heading)])
  expect(first).not.toMatch(/ columns \d+ to /)
})

it('the columns of a PDF exist', () => {
  for (const key of reportLists.agents.file.pdf) expect(headingOf(key)).not.toBe('')
})
