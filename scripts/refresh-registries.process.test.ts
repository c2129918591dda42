import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('refresh-registries.ts', import.meta.url))
const page = (title: string, owner: string): string =>
  `---\nlayout: pid\ntitle: ${title}\nowner: ${owner}\n---\nText.\n`

// Own samples in the form of each list, with the peculiarities that the real ones have.
const samples: Record<string, Record<string, string>> = {
  'pidcodes.github.com': {
    '1209/7A01/index.md': page('"Lantern: desk light"', 'glow'),
    '1209/7a02/index.md': page('Lantern Loader', 'someone'),
    'org/glow/index.md': '---\ntitle: Glow Works\nproduct page: https://glow.example\n---\n',
    'README.md': 'not read',
  },
  'openmoko-usb-oui': {
    'usb_product_ids.psv': [
      'Vendor ID | Product ID | Description',
      '0x1d50 | 0x7b00 | [https://loom.example Loom controller] (DFU)',
      '0x1d50 | 0x7b01 | TBD *R!*',
      '0x1d50 | 0x7b10-0x7b12 | Loom family',
      '0x1457 / 0x1d50 | 0x7b20 | Old loom',
      '0x1d50 |  | 0x1d50 0x??? ### - insert next record here - ###',
    ].join('\n'),
  },
  'usb-pids': {
    'allocated-pids.txt':
      'A text above the table.\n\nPID    | Product name\n0x7C00 | Brook Labs Kettle™\n0x7C01 | Reserved\n',
  },
  'usb-pid': {
    'Readme.md': [
      '| Product ID | Company | Product Description | Product link |',
      '| --- | --- | --- | --- |',
      '| **0x1000 - 0x1fff** ||||',
      '| 0x7d00 | Meadow Ltd | [Scythe](https://meadow.example) pad | |',
      '| 0x7d01 | Reserved | | |',
      '',
      'Text below.',
    ].join('\n'),
  },
  libfido2: {
    'udev/fidodevs':
      '# Keys\nvendor BIRCH\t0x7e00\tBirch Keys\nproduct BIRCH\t0x0001\tBirch One\nproduct BIRCH\t0x0002\tUnknown product\n',
  },
  CCID: { 'readers/supported_readers.txt': '# section\n0x7E00:0x0001:Birch Reader\n0x7E01:0x00aB:Oak Reader: dual\n' },
}

let folder: string
let to: string

const commit = (name: string, files: Record<string, string>): void => {
  const at = join(folder, name)
  mkdirSync(at, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false']
  const env = { ...process.env, GIT_AUTHOR_DATE: '2031-05-04T10:00:00Z', GIT_COMMITTER_DATE: '2031-05-04T10:00:00Z' }
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...who, 'commit', '-qm', 'sample'],
  ]) {
    const made = spawnSync('git', ['-C', at, ...args], { env, encoding: 'utf8' })
    expect(made.status, made.stderr).toBe(0)
  }
}

const refresh = () => spawnSync(process.execPath, [script, '--from', folder, '--to', to], { encoding: 'utf8' })

const written = (): string => readFileSync(join(to, 'knowledge/registries.json'), 'utf8')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'registries-from-'))
  to = mkdtempSync(join(tmpdir(), 'registries-to-'))
  mkdirSync(join(to, 'knowledge'))
  mkdirSync(join(to, 'domain/src'), { recursive: true })
  for (const [name, files] of Object.entries(samples)) commit(name, files)
})

describe('the refresh of the registries', () => {
  it('writes the products of every list with its commit and date, the same twice', () => {
    expect(refresh()).toMatchObject({ status: 0, stderr: '' })
    const first = written()
    const { sources, products } = JSON.parse(first)
    expect(products).toEqual({
      '1209:7A01': ['pid.codes', 'Lantern: desk light', 'Glow Works'],
      '1209:7A02': ['pid.codes', 'Lantern Loader', 'someone'],
      '1D50:7B00': ['openmoko', 'Loom controller (DFU)'],
      '1D50:7B10-7B12': ['openmoko', 'Loom family'],
      '1D50:7B20': ['openmoko', 'Old loom'],
      '2E8A:7D00': ['raspberrypi', 'Scythe pad', 'Meadow Ltd'],
      '303A:7C00': ['espressif', 'Brook Labs Kettle™'],
      '7E00:0001': ['libfido2', 'Birch One'],
      '7E01:00AB': ['ccid', 'Oak Reader: dual'],
    })
    expect(sources.libfido2).toMatchObject({ date: '2031-05-04', version: expect.stringMatching(/^[0-9a-f]{40}$/) })
    // A key without a name is still a key.
    const keys = readFileSync(join(to, 'domain/src/security-keys.ts'), 'utf8')
    expect(keys).toContain('`\n  7E00: 0001 0002\n`')
    expect(refresh().status).toBe(0)
    expect(written()).toBe(first)
  })

  it.each([
    ['pidcodes.github.com', '1209/7A03/index.md', '---\ntitle: Half\n---\n', '1209/7A03/index.md:1: has no owner'],
    ['pidcodes.github.com', '1209/7A04/index.md', '---\ntitle: Cut\n', '1209/7A04/index.md:3: ends before'],
    ['pidcodes.github.com', '1209/7A/index.md', page('Short', 'glow'), '1209/7A/index.md:1: is in a folder'],
    [
      'openmoko-usb-oui',
      'usb_product_ids.psv',
      'Vendor ID | x\n0x1d50 | 0x7b | Loom\n',
      'usb_product_ids.psv:2: is not',
    ],
    ['usb-pids', 'allocated-pids.txt', 'PID | Product name\n\n0x7C0G | Kettle\n', 'allocated-pids.txt:3: is not'],
    ['usb-pid', 'Readme.md', '| Product ID | Company |\n|---|---|\n| 7d00 | Meadow | Pad |\n', 'Readme.md:3: has no'],
    ['libfido2', 'udev/fidodevs', 'vendor A 0x0001 A\nproduct B 0x0001 Key\n', 'udev/fidodevs:2: names the vendor B'],
    ['CCID', 'readers/supported_readers.txt', '0x7E01:0x00AB:\n', 'readers/supported_readers.txt:1: is not'],
  ])('refuses a malformed line of %s with file and line, and writes nothing', (name, path, text, message) => {
    commit(name, { [path]: text })
    const { status, stderr } = refresh()
    expect(stderr).toContain(`${name}/${message}`)
    expect(status).toBe(1)
    expect(written).toThrow(/ENOENT/)
  })
})
