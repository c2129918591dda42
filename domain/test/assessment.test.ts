import { describe, expect, it } from 'vitest'
import { createAttackTools } from '../src/attack-tools.ts'
import { bootPacketOf, compileGenuine } from '../src/genuine.ts'
import {
  type AttackToolRow,
  type GenuineRow,
  judgedReport,
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
    [
      'a board that types',
      row({ group: 'board' }),
      {},
      ['Keyboard'],
      found('suspected', [ids, 'a developer board that acts as a keyboard']),
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
    [
      'ids shared with what types',
      row({ sharedWith: 'Stick' }),
      {},
      ['Keyboard'],
      found('suspected', [ids, 'Stick has the same ids'], 'Tool or Stick'),
    ],
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

  it('may be the management controller of a server, unless it is confirmed', () => {
    const assess = (one: AttackToolRow, spec: Partial<DeviceSpec>) =>
      createAttackTools([one], []).assess(subjectOf(spec, ['Mouse'])).finding?.name
    const controller = { product: 'Virtual Media', removable: 'fixed' as const }
    expect(assess(row({}), controller)).toBe('Management controller of the server, or Tool')
    expect(assess(row({}), { ...controller, removable: 'removable' })).toBe('Tool')
    expect(assess(row({}), { product: 'Media' })).toBe('Tool')
    expect(assess(row({ support: [{ anyKind: ['Mouse'] }] }), controller)).toBe('Tool')
  })
})

describe('a device on no list', () => {
  it.each<[string, Partial<DeviceSpec>, string]>([
    ['is found by what it does', { interfaces: ['03:01:01', '08:06:50'] }, 'Keyboard with mass storage'],
    [
      'is found by its stack',
      { vid: 'CAFE', product: 'K', interfaces: ['03:01:01'] },
      'Keyboard from a hobby USB stack',
    ],
  ])('%s', (_, spec, name) => {
    const kinds: Kind[] = name.endsWith('storage') ? ['Keyboard', 'Mass Storage'] : ['Keyboard']
    expect(createAttackTools([], []).assess(subjectOf(spec, kinds)).finding).toMatchObject({ name })
  })
})

describe('a genuine product', () => {
  const boot = (packet: number) => ({
    code: '03:01:01',
    endpoints: [{ address: 0x81, maxPacketSize: packet, interval: 10 }],
  })
  const spec: Partial<DeviceSpec> = {
    ...{ bcdDevice: '0110', maxPacketSize0: 8, maxPowerMa: 100, speedMbps: 12 },
    ...{ manufacturer: 'Maker', product: 'Keys', configuration: 'C1', interfaces: [boot(8)] },
  }
  const base: GenuineRow = { vid: 'AAA1', pid: '0010', name: 'Keys', classes: ['03'], samples: 5, source: 'src' }
  const compare = (row: Partial<GenuineRow>, change: Partial<DeviceSpec> = {}) =>
    compileGenuine({ ...base, ...row })(subjectOf({ ...spec, ...change }))
  const bcd = ['0110']
  const storage = { interfaces: [boot(8), '08:06:50', '0e:01:00'] }
  const foreign = 'has interfaces of class 08, 0e; a genuine Keys has none'
  const sets = { interfaceSets: ['03:01:02', '03:01:01 03:00:00'] }
  const otherSet = 'interfaces are 03:01:01 instead of 03:01:02 or 03:01:01 03:00:00'
  const serial = 'has a serial number; a genuine Keys has none'
  const fast = 'runs at 480 Mbit/s; a genuine Keys runs at up to 12 Mbit/s'

  it.each<[string, Partial<GenuineRow>, Partial<DeviceSpec>, [number, string][], compared: number]>([
    ['nothing to compare', {}, {}, [], 1],
    ['foreign classes, by its nature', {}, storage, [[3, foreign]], 1],
    ['foreign classes, by recordings', { bcd }, storage, [[2, foreign]], 1],
    ['foreign classes, by few recordings', { bcd, samples: 2 }, storage, [[2, foreign]], 1],
    ['foreign classes of what varies', { bcd, samples: 2, classes: ['03', 'ff'] }, storage, [[1, foreign]], 1],
    [
      'foreign classes of what varies, many recordings',
      { bcd, samples: 3, classes: ['03', 'ff'] },
      storage,
      [[2, foreign]],
      1,
    ],
    ['foreign classes by nature, other than input', { samples: 0, classes: ['03', 'ff'] }, storage, [[3, foreign]], 1],
    ['foreign classes rather than sets', { ...sets }, storage, [[3, foreign]], 1],
    ['its set', { interfaceSets: ['x', '03:01:01'] }, {}, [], 1],
    ['another set', sets, {}, [[2, otherSet]], 1],
    ['another set of what varies', { ...sets, bcd, samples: 1, classes: ['03', 'ff'] }, {}, [[1, otherSet]], 1],
    ['no interfaces', { interfaceSets: ['x'] }, { interfaces: [] }, [[2, 'interfaces are none instead of x']], 1],
    ['no serial number', { serial: 'never' }, {}, [], 2],
    ['a serial number, by its nature', { serial: 'never' }, { serial: 'A' }, [[3, serial]], 2],
    ['a serial number, by recordings', { serial: 'never', bcd, samples: 2 }, { serial: 'A' }, [[2, serial]], 2],
    ['a serial number, one recording', { serial: 'never', bcd, samples: 1 }, { serial: 'A' }, [[1, serial]], 2],
    ['a serial number, one description', { serial: 'never', samples: 1 }, { serial: 'A' }, [[2, serial]], 2],
    ['a serial number that nobody excludes', {}, { serial: 'A' }, [], 1],
    ['its speed', { maxSpeedMbps: 12 }, {}, [], 2],
    ['an unknown speed', { maxSpeedMbps: 12 }, { speedMbps: 0 }, [], 1],
    ['a higher speed', { maxSpeedMbps: 12 }, { speedMbps: 480 }, [[3, fast]], 2],
    ['a higher speed, by recordings', { maxSpeedMbps: 12, bcd }, { speedMbps: 480 }, [[2, fast]], 2],
    ['its control packets', { ep0: [16, 8] }, {}, [], 2],
    ['other control packets', { ep0: [16, 64] }, {}, [[1, 'uses control packets of 8 bytes instead of 16 or 64']], 2],
    ['its current', { powerMa: [50, 100] }, {}, [], 2],
    ['another current', { powerMa: [50, 98] }, {}, [[1, 'requests 100 mA instead of 50 or 98']], 2],
    ['its packets', { bootPacket: [16, 8] }, {}, [], 2],
    ['other packets', { bootPacket: [16, 64] }, {}, [[1, 'sends packets of 8 bytes instead of 16 or 64']], 2],
    ['no packets of a boot device', { bootPacket: [16] }, { interfaces: ['03:00:00'] }, [], 1],
    ['its major version', { bcdMajor: ['12', '01'] }, {}, [], 2],
    [
      'another major version',
      { bcdMajor: ['12', '24'] },
      {},
      [[1, 'major version of bcdDevice 0110 is not 12 or 24']],
      2,
    ],
    ['its texts', { manufacturer: '^Maker$', product: '^Keys$', configuration: '^C1$' }, {}, [], 4],
    [
      'other texts',
      { manufacturer: '^M$', product: '^K$', configuration: '^C$' },
      { product: 'x'.repeat(90) },
      [
        [1, 'manufacturer is "Maker"'],
        [1, `product is "${'x'.repeat(80)}"`],
        [1, 'configuration is "C1"'],
      ],
      4,
    ],
  ])('%s', (_, row, change, found, compared) => {
    const comparison = compare(row, change)
    expect(comparison.found).toEqual(found.map(([weight, evidence]) => ({ weight, evidence })))
    expect(comparison.compared).toBe(compared)
  })

  it.each<[string, string, object, number]>([
    ['of its boot interface', '03:01:01', { address: 0x81, attributes: 3 }, 32],
    ['of another interface', '03:00:01', { address: 0x81, attributes: 3 }, 0],
    ['of another class', '08:01:01', { address: 0x81, attributes: 3 }, 0],
    ['that it receives', '03:01:01', { address: 0x01, attributes: 3 }, 0],
    ['in bulk', '03:01:01', { address: 0x81, attributes: 2 }, 0],
  ])('sends packets %s', (_, code, endpoint, size) => {
    const endpoints = [{ address: 0x82, maxPacketSize: 32, interval: 10, ...endpoint }]
    expect(bootPacketOf(subjectOf({ interfaces: [{ code, endpoints }] }).parsed)).toBe(size)
  })

  it('requests no current and sends nothing without a configuration', () => {
    const subject = subjectOf({})
    const parsed = { ...subject.parsed, configurations: [] }
    expect(bootPacketOf(parsed)).toBe(0)
    expect(compileGenuine({ ...base, powerMa: [0] })({ ...subject, parsed }).found).toEqual([])
  })

  it('has known revisions, if any are listed', () => {
    const known = (row: Partial<GenuineRow>) => compare(row).isKnownRevision
    expect([known({}), known({ bcd: ['0100', '0110'] }), known({ bcd: ['0100'] })]).toEqual([true, true, false])
  })

  it('is not compared by text if the device has no texts', () => {
    expect(compareNameless({ manufacturer: '^M$', product: '^K$', configuration: '^C$' })).toEqual([[], 1])
  })
  const compareNameless = (row: Partial<GenuineRow>) => {
    const { found, compared } = compileGenuine({ ...base, ...row })(subjectOf({ bcdDevice: '0110' }))
    return [found, compared]
  }

  it.each<[string, Partial<GenuineRow>, Partial<DeviceSpec>, string | null, boolean]>([
    ['the same', {}, {}, null, false],
    ['impossible', {}, { speedMbps: 480 }, 'confirmed Imitation of Keys', true],
    [
      'impossible, of an unknown revision',
      { bcd: undefined as never },
      { bcdDevice: '0120', speedMbps: 480 },
      'confirmed Imitation of Keys',
      true,
    ],
    ['unlikely twice', { bcd }, { speedMbps: 480, serial: 'A' }, 'confirmed Imitation of Keys', true],
    ['unlikely once', { bcd }, { serial: 'A' }, 'suspected Differs from genuine Keys (1 of 6 fields)', false],
    ['unlikely once, unknown revision', { bcd }, { serial: 'A', bcdDevice: '0120' }, null, false],
    [
      'unlikely once and different, unknown revision',
      { bcd },
      { serial: 'A', bcdDevice: '0120', product: 'x' },
      'suspected Differs from genuine Keys (2 of 6 fields)',
      false,
    ],
    ['that, with few recordings', { bcd, samples: 2 }, { serial: 'A', bcdDevice: '0120', product: 'x' }, null, false],
    [
      'that, with three recordings',
      { bcd, samples: 3 },
      { serial: 'A', bcdDevice: '0120', product: 'x' },
      'suspected Differs from genuine Keys (2 of 6 fields)',
      false,
    ],
    [
      'unlikely twice, with few recordings',
      { bcd, samples: 2 },
      { speedMbps: 480, serial: 'A', bcdDevice: '0120' },
      'suspected Differs from genuine Keys (2 of 6 fields)',
      false,
    ],
    [
      'unlikely twice, few recordings, known revision',
      { bcd, samples: 2 },
      { speedMbps: 480, serial: 'A' },
      'confirmed Imitation of Keys',
      true,
    ],
    ['different twice', { bcd }, { product: 'x', maxPowerMa: 500 }, null, false],
    [
      'different three times',
      { bcd },
      { product: 'x', maxPowerMa: 500, interfaces: [boot(16)] },
      'suspected Differs from genuine Keys (3 of 6 fields)',
      false,
    ],
    [
      'different three times, few recordings, unknown revision',
      { bcd, samples: 2 },
      { bcdDevice: '0120', product: 'x', maxPowerMa: 500, interfaces: [boot(16)] },
      null,
      false,
    ],
  ])('is evaluated: %s', (_, change, device, expected, contradicts) => {
    const row: GenuineRow = {
      ...{ ...base, serial: 'never', maxSpeedMbps: 12, powerMa: [100], bootPacket: [8], product: '^Keys$' },
      ...change,
    }
    const tools = createAttackTools([], [row])
    const verdict = tools.assess(subjectOf({ ...spec, ...device }))
    const { finding } = verdict
    expect(finding === null ? null : `${finding.level} ${finding.name}`).toBe(expected)
    expect(verdict.contradicts).toBe(contradicts)
    expect(finding === null || finding.source === 'src').toBe(true)
    const imitations = tools.imitations(subjectOf({ ...spec, ...device }))
    const { level, name, evidence = [] } = finding ?? {}
    expect(imitations).toEqual(finding === null ? [] : [{ level, name, row, evidence }])
    expect(evidence.every((text) => typeof text === 'string' && text.length > 0)).toBe(true)
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

  it('ignores empty strings', () => {
    const texts = { manufacturer: ' Maker ', product: '\u200b', serial: 'S1', configuration: 'C' }
    const { portPath, descriptors } = report
    expect(
      judgedReport({ portPath, descriptors, ...texts, speedMbps: 12, removable: 'unknown', reportDescriptors: [] }),
    ).toEqual({
      ...{ portPath, descriptors, manufacturer: 'Maker', serial: 'S1', configuration: 'C', speedMbps: 12 },
    })
    expect(
      judgedReport({ portPath, descriptors, speedMbps: 0, removable: 'removable', reportDescriptors: ['AA=='] }),
    ).toEqual({
      ...{ portPath, descriptors, removable: 'removable', reportDescriptors: ['AA=='] },
    })
  })
})

it('returns the higher of the severity of the fingerprint and of a device that is not on the allowlist', () => {
  expect([deviceSeverity(10, true), deviceSeverity(10, false), deviceSeverity(40, true)]).toEqual([20, 10, 40])
  expect(severityOf({ attackTool: null, vulnerable: false, unapproved: false })).toBe(10)
  expect(riskScore([{ factor: 'a', points: 0.4, evidence: '' }]).score).toBe(0)
})
