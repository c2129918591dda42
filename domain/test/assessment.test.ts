import { describe, expect, it } from 'vitest'
import { createAttackTools } from '../src/attack-tools.ts'
import {
  type AttackToolRow,
  evaluatedReport,
  type GenuineRow,
  type Kind,
  parseReport,
  type VulnerableRow,
  verdictInputs,
  verdictKey,
} from '../src/index.ts'
import { deviceSeverity, riskScore, severityOf } from '../src/risk.ts'
import { buildDevice, type DeviceSpec } from '../src/testing.ts'
import { createVulnerabilities } from '../src/vulnerabilities.ts'

const subjectOf = (spec: Partial<DeviceSpec>, kinds: Kind[] = []) => {
  const report = buildDevice({ vid: 'AAA1', pid: '0010', interfaces: ['03:01:02'], ...spec })
  return { parsed: parseReport(report), report, kinds }
}

describe('a row in the list of attack tools', () => {
  const row = (change: Partial<AttackToolRow>): AttackToolRow => ({
    ...{ id: 'r', group: 'own', vid: 'AAA1', pid: '0010', name: 'Tool', kind: 'k', source: 'src' },
    ...change,
  })
  const stringsRow = (change: Partial<AttackToolRow>): AttackToolRow => {
    const { vid: _, pid: __, ...rest } = row({ group: 'strings', ...change })
    return rest
  }
  const named = { product: '^Tool' }
  const ids = 'ids AAA1:0010 are on the list'
  const word = 'product is "Tool X"'
  const found = (level: string, evidence: string[], name = 'Tool') => ({ level, name, evidence, source: 'src' })

  it.each<[string, AttackToolRow, Partial<DeviceSpec>, Kind[], object | null]>([
    ['own ids are enough', row({}), {}, [], found('suspected', [ids])],
    ['other ids are not', row({}), { pid: '0011' }, [], null],
    ['another vendor is not', row({}), { vid: 'AAA2' }, [], null],
    ['a range', row({ pidTo: '0020' }), {}, [], found('suspected', ['ids AAA1:0010-0020 are on the list'])],
    ['a vendor', row({ pid: undefined as never }), {}, [], found('suspected', ['ids AAA1:any are on the list'])],
    ['what is known only', row({ group: 'policy' }), {}, ['Keyboard'], null],
    ['a product in the shops', row({ group: 'real' }), {}, ['Keyboard'], null],
    ['with its words', row({ group: 'real', when: named }), { product: 'Tool X' }, [], found('suspected', [ids, word])],
    ['without its words', row({ group: 'real', when: named }), { product: 'X' }, [], null],
    ['a board that does not type', row({ group: 'board' }), {}, ['Mouse'], null],
    ['a board that types, without words', row({ group: 'board' }), { interfaces: ['03:01:01'] }, ['Keyboard'], null],
    [
      'a board that types, with its words',
      row({ group: 'board', when: named }),
      { interfaces: ['03:01:01'], product: 'Tool X' },
      ['Keyboard'],
      found('suspected', [ids, word, 'a developer board that acts as a keyboard']),
    ],
    [
      'a board with its words that does not type',
      row({ group: 'board', when: named }),
      { product: 'Tool X' },
      [],
      null,
    ],
    [
      'what supports it',
      row({ support: [{ product: 'nothing' }, named, { anyKind: ['Mouse'] }] }),
      { product: 'Tool X' },
      ['Mouse'],
      found('confirmed', [ids, word, 'is Mouse']),
    ],
    ['no support', row({ support: [named] }), { product: 'X' }, [], found('suspected', [ids])],
    ['ids shared with what cannot type', row({ sharedWith: 'Stick' }), {}, ['Mouse'], null],
    ['ids shared with what types', row({ sharedWith: 'Stick' }), { interfaces: ['03:01:01'] }, ['Keyboard'], null],
    [
      'shared IDs, but distinguished',
      row({ sharedWith: 'Stick', support: [named] }),
      { product: 'Tool X' },
      ['Mouse'],
      found('confirmed', [ids, word]),
    ],
    [
      'words under any ids',
      stringsRow({ when: named }),
      { vid: 'BBB1', product: 'Tool X' },
      [],
      found('suspected', [word]),
    ],
    ['other words', stringsRow({ when: named }), { product: 'X' }, [], null],
    ['no words at all', stringsRow({}), {}, [], null],
  ])('%s', (_, one, spec, kinds, expected) => {
    expect(createAttackTools([one], []).assess(subjectOf(spec, kinds))).toEqual({
      finding: expected,
      contradicts: false,
    })
  })

  it('is the first match by VID and PID, with matches by text in addition', () => {
    const rows = [
      row({ name: 'Vendor', pid: undefined as never, source: 'b' }),
      row({ name: 'None', when: { product: 'nothing' } }),
      row({ name: 'Model', source: 'a' }),
      stringsRow({ name: 'Words', when: named, source: 'a' }),
      stringsRow({ name: 'Same', when: named, source: 'c', support: [{ anyKind: ['Mouse'] }] }),
    ]
    expect(createAttackTools(rows, []).assess(subjectOf({ product: 'Tool X' }, ['Mouse'])).finding).toEqual({
      level: 'confirmed',
      name: 'Words',
      evidence: [word, 'is Mouse', ids],
      source: 'a; c',
    })
  })

  it('is found by its ids even if its words match nothing', () => {
    const rows = [stringsRow({ name: 'Words', when: named }), row({ name: 'Model' })]
    expect(createAttackTools(rows, []).assess(subjectOf({ product: 'X' }, ['Mouse'])).finding?.name).toBe('Model')
  })
})

describe('a device on no list', () => {
  it('is found by what it does', () => {
    const subject = subjectOf({ interfaces: ['03:01:01', '08:06:50'] }, ['Keyboard', 'Mass Storage'])
    expect(createAttackTools([], []).assess(subject).finding).toMatchObject({ name: 'Keyboard with mass storage' })
  })
})

describe('a product that has only HID interfaces', () => {
  const keys: GenuineRow = {
    vid: 'AAA1',
    pid: '0010',
    name: 'Keys',
    classes: ['03', 'ff'],
    samples: 150,
    source: 'src',
  }
  const cd = ['03:01:02', '08:02:50']
  const serial = ['03:01:02', '02:02:01', '0a:00:00']
  const has = (what: string, set: string) => `has ${what} (${set}); a genuine Keys has only HID interfaces`
  it.each<[string, Partial<GenuineRow>, Partial<DeviceSpec>, string | null, string?]>([
    ['with what it has', {}, { interfaces: ['03:01:01', '03:00:00', 'ff:00:00'] }, null],
    ['with another number of interfaces', {}, { interfaces: ['03:01:01'] }, null],
    ['with sound', {}, { interfaces: ['03:01:02', '01:01:00'] }, null],
    [
      'with mass storage',
      {},
      { interfaces: cd },
      'confirmed Imitation of Keys',
      has('mass storage', '03:01:02 08:02:50'),
    ],
    [
      'with a serial port',
      {},
      { interfaces: serial },
      'confirmed Imitation of Keys',
      has('communication', '02:02:01 03:01:02 0a:00:00'),
    ],
    [
      'with mass storage only',
      {},
      { interfaces: ['08:02:50'] },
      'suspected Differs from genuine Keys',
      has('mass storage', '08:02:50'),
    ],
    [
      'with a radio and mass storage',
      {},
      { interfaces: [...cd, 'e0:01:01'] },
      'confirmed Imitation of Keys',
      has('mass storage and wireless', '03:01:02 08:02:50 e0:01:01'),
    ],
    ['of another model', { pid: '0011' }, { interfaces: cd }, null],
    ['by its nature', { samples: 0 }, { interfaces: cd }, 'confirmed Imitation of Keys'],
    ['by enough recordings', { samples: 20 }, { interfaces: cd }, 'confirmed Imitation of Keys'],
    ['by few recordings', { samples: 19 }, { interfaces: cd }, null],
    ['with firmware updates', { classes: ['03', 'fe'] }, { interfaces: cd }, 'confirmed Imitation of Keys'],
    ['by recorded revisions, from an older set', { samples: 30, bcd: ['0100'] }, { interfaces: cd }, null],
    ['that is another product', { classes: ['08'] }, { interfaces: ['03:01:02', '02:02:01'] }, null],
    ['with more than HID', { classes: ['03', '09'] }, { interfaces: cd }, null],
  ])('%s', (_, change, spec, expected, evidence) => {
    const row = { ...keys, ...change }
    const tools = createAttackTools([], [row])
    const { finding, contradicts } = tools.assess(subjectOf(spec))
    expect(finding === null ? null : `${finding.level} ${finding.name}`).toBe(expected)
    if (evidence !== undefined) expect(finding?.evidence).toEqual([evidence])
    expect(contradicts).toBe(expected?.startsWith('confirmed') ?? false)
    const { level, name } = finding ?? {}
    expect(tools.imitations(subjectOf(spec))).toEqual(
      finding === null ? [] : [{ level, name, row, evidence: finding.evidence }],
    )
  })

  it.each([
    ['Multicard Reader', false],
    ['Fast Ethernet Adapter', false],
    ['Wireless Keyboard', true],
    ['GamePad', true],
    [null, true],
  ])('shares its ids with a product that usb.ids calls %s', (name, is) => {
    const tools = createAttackTools([], [keys], () => name)
    expect(tools.assess(subjectOf({ interfaces: cd })).finding !== null).toBe(is)
  })
})

describe('a published vulnerability', () => {
  const row = (change: Partial<VulnerableRow>): VulnerableRow => ({
    ...{ id: 'CVE-1', match: 'id', vid: 'AAA1', pid: '0010', vendor: 'v', product: 'p', condition: '-' },
    ...{ weakness: 'w', cvss: 5, source: 'src' },
    ...change,
  })
  const assess = (rows: VulnerableRow[], spec: Partial<DeviceSpec> = {}) =>
    createVulnerabilities(rows)
      .assess(subjectOf({ bcdDevice: '0110', ...spec }))
      .map(({ id, confidence }) => `${id} ${confidence}`)

  it('is reported with all details', () => {
    const reported = { id: 'CVE-1', weakness: 'w', cvss: 5, confidence: 'model', firmwareCondition: '', source: 'src' }
    expect(createVulnerabilities([row({})]).assess(subjectOf({}))).toEqual([reported])
    expect(createVulnerabilities([row({ condition: 'below 2' })]).assess(subjectOf({}))).toEqual([
      { ...reported, firmwareCondition: 'below 2' },
    ])
  })

  const branch = (from: string, below: string) => ({ firmware: { branches: [{ from, below }] } })
  it.each<[string, Partial<VulnerableRow>, string[]]>([
    ['of its ids', {}, ['CVE-1 model']],
    ['of other ids', { pid: '0011' }, []],
    ['of its family', { confidence: 'family' }, ['CVE-1 family']],
    ['of ids that it shares', { sharedWith: 'Stick' }, ['CVE-1 family']],
    ['of ids that it shares, by its name', { sharedWith: 'Stick', when: { product: 'Keys' } }, ['CVE-1 model']],
    ['of another revision of ids that it shares', { sharedWith: 'Stick', firmware: { exact: ['0111'] } }, []],
    ['that cannot be detected over USB', { match: 'none' }, []],
    ['that cannot be detected by its name', { match: 'none', when: { product: 'Keys' } }, []],
    ['of its name', { match: 'strings', vid: null, pid: null, when: { product: 'Keys' } }, ['CVE-1 model']],
    ['of its name and maker', { match: 'strings', pid: null, when: { product: 'Keys' } }, ['CVE-1 model']],
    ['of another name', { match: 'strings', vid: null, pid: null, when: { product: 'Mice' } }, []],
    ['of a name that is not given', { match: 'strings', vid: null, pid: null }, []],
    ['of its ids and another name', { when: { product: 'Mice' } }, []],
    ['of this revision', { firmware: { exact: ['0100', '0110'] } }, ['CVE-1 firmware']],
    ['of another revision', { firmware: { exact: ['0111'] } }, []],
    ['of revisions from this one', branch('0110', '0111'), ['CVE-1 firmware']],
    ['of revisions below this one', branch('0100', '0110'), []],
    ['of later revisions', branch('0111', '0200'), []],
    [
      'of a branch that is less sure',
      { firmware: { branches: [{ from: '0100', below: '0200', confidence: 'family' }] } },
      ['CVE-1 family'],
    ],
    [
      'of one of several branches',
      {
        firmware: {
          exact: ['0001'],
          branches: [
            { from: '0001', below: '0002' },
            { from: '0100', below: '0200' },
          ],
        },
      },
      ['CVE-1 firmware'],
    ],
  ])('%s', (_, change, expected) => {
    expect(assess([row(change)], { product: 'Keys' })).toEqual(expected)
  })

  it('is reported once, with the highest confidence first', () => {
    const rows = [
      row({ id: 'F', confidence: 'family' }),
      row({ id: 'M' }),
      row({ id: 'M', vendor: 'another brand' }),
      row({ id: 'M', weakness: 'another' }),
      row({ id: 'W', firmware: { exact: ['0110'] } }),
      row({ id: 'S', match: 'strings', vid: null, pid: null, when: { anyKind: [] } }),
    ]
    expect(assess(rows)).toEqual(['W firmware', 'M model', 'M model', 'F family'])
    // A row for other firmware does not hide a matching row.
    expect(assess([row({ firmware: { exact: ['0001'] } }), row({})])).toEqual(['CVE-1 model'])
  })
})

describe('the key of a verdict', () => {
  const report = buildDevice({ portPath: '1-1', vid: 'AAA1', pid: '0010', interfaces: ['03:01:01'] })
  const inputs = (change: Partial<typeof report>, names = false) =>
    verdictInputs(parseReport(report), { ...report, ...change }, () => names)

  it('contains all inputs of the verdict', () => {
    expect(inputs({})).toEqual({
      speed: report.speedMbps ?? 0,
      removable: report.removable ?? 'unknown',
      serial: false,
      reportDescriptors: [],
    })
    expect(
      inputs({ speedMbps: 480, removable: 'fixed', serial: ' S\u200b1 ', reportDescriptors: ['AA=='] }, true),
    ).toEqual({
      ...{ speed: 480, removable: 'fixed', serial: 'S1', reportDescriptors: ['AA=='] },
    })
    expect(inputs({ serial: 'S1' }).serial).toBe(true)
    expect([inputs({ serial: '' }, true).serial, inputs({ serial: ' ' }, true).serial]).toEqual([false, true])
    expect([inputs({ speedMbps: 0 }).speed, inputs({ removable: 'unknown' }).removable]).toEqual([0, 'unknown'])
  })

  it('changes with each input and with nothing else', () => {
    const { portPath: _, speedMbps: __, removable: ___, ...plain } = report
    const all = [
      ...[{}, { speedMbps: 480 }, { removable: 'fixed' as const }, { removable: 'removable' as const }],
      ...[{ serial: 'S1' }, { reportDescriptors: ['AA=='] }, { reportDescriptors: ['AA==', 'AA=='] }],
    ].map((change) =>
      verdictKey(
        'e',
        verdictInputs(parseReport(report), { portPath: '1-1', ...plain, ...change }, () => false),
      ),
    )
    expect(new Set([...all, verdictKey('f', inputs({}))]).size).toBe(8)
    expect(all[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(verdictKey('e', { speed: 12, removable: 'unknown', serial: false, reportDescriptors: [] })).toBe(
      '9e38a585455d272ea7585fda43c79c4d',
    )
  })

  it('contains the active configuration if it is not the first', () => {
    const two = buildDevice({ vid: 'AAA1', pid: '0010', interfaces: ['03:01:02'], moreConfigurations: [['03:01:01']] })
    const keys = [undefined, 0, 1, 2].map((configurationValue) => {
      const given = { ...two, ...(configurationValue === undefined ? {} : { configurationValue }) }
      return verdictKey(
        'e',
        verdictInputs(parseReport(two), given, () => false),
      )
    })
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(keys[3]).not.toBe(keys[0])
  })

  it('ignores empty strings', () => {
    const texts = { manufacturer: ' Maker ', product: '\u200b', serial: 'S1', configuration: 'C' }
    const { portPath, descriptors } = report
    expect(
      evaluatedReport({ portPath, descriptors, ...texts, speedMbps: 12, removable: 'unknown', reportDescriptors: [] }),
    ).toEqual({
      ...{ portPath, descriptors, manufacturer: 'Maker', serial: 'S1', configuration: 'C', speedMbps: 12 },
    })
    const more = { portPath, descriptors, removable: 'removable' as const, reportDescriptors: ['AA=='] }
    expect(evaluatedReport({ ...more, speedMbps: 0, configurationValue: 0 })).toEqual(more)
    expect(evaluatedReport({ ...more, configurationValue: 2 })).toEqual({ ...more, configurationValue: 2 })
  })
})

it('returns the higher of the severity of the fingerprint and of a device that is not on the allowlist', () => {
  expect([deviceSeverity(10, true), deviceSeverity(10, false), deviceSeverity(40, true)]).toEqual([20, 10, 40])
  expect(severityOf({ attackTool: null, vulnerable: false, unapproved: false })).toBe(10)
  expect(riskScore([{ factor: 'a', points: 0.4, evidence: '' }]).score).toBe(0)
})
