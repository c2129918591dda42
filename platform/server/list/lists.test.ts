import { type Agent, agentFilters, agentStatuses, type Peripheral } from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type Page, pageOf } from '@portcullis/server/test/builders.ts'
import { fold, hostNames, seedHosts } from '@portcullis/server/test/list-hosts.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp
let agents: Agent[]
let peripherals: Peripheral[]

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await seedHosts(t)
  agents = (await pageOf(t, 'agents?PageSize=1000')).data
  peripherals = (await pageOf<Peripheral>(t, 'peripherals?PageSize=1000')).data
  expect([agents.length, peripherals.length > 60]).toEqual([30, true])
  const kinds = new Set(agents.map((a) => `${a.canBlock} ${a.operationalStatus} ${a.policyPending}`))
  expect([...kinds].sort()).toEqual(['false Free false', 'true Armed false', 'true Armed true', 'true Free false'])
})
afterAll(() => t.close())

const has = (text: string, needle: string): boolean => fold(text).includes(fold(needle))
const any = (values: string, test: (one: string) => boolean): boolean => values.split(',').some((v) => test(v.trim()))
const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The filters of the agents list, written again as plainly as possible. */
const agentMeaning: Record<string, (a: Agent, value: string) => boolean> = {
  HostIdentifier: (a, v) => has(a.hostIdentifier, v),
  IpAddress: (a, v) => has(a.localIpAddress, v),
  Uuid: (a, v) => has(a.uuid, v),
  Version: (a, v) => has(a.serviceVersion, v),
  OsVersion: (a, v) => has(a.osVersion, v),
  Status: (a, v) =>
    any(v, (one) =>
      [a.displayStatusCombined, a.operationalStatus, a.connectionStatus].some((s) => fold(s) === fold(one)),
    ),
  License: (a, v) => any(v, (one) => fold(a.licenseStatus) === fold(one)),
  Severity: (a, v) =>
    v.startsWith('>=')
      ? a.severity >= Number(v.slice(2))
      : v.startsWith('<=')
        ? a.severity <= Number(v.slice(2))
        : any(v, (n) => a.severity === Number(n)),
  HasUnapprovedPeripherals: (a, v) => a.hasUnapprovedPeripherals === (fold(v) === 'true'),
  HasVulnerablePeripherals: (a, v) => a.hasVulnerablePeripherals === (fold(v) === 'true'),
  HasKnownAttackTools: (a, v) => a.hasKnownAttackTools === (fold(v) === 'true'),
  CanBlock: (a, v) => a.canBlock === (fold(v) === 'true'),
  PolicyPending: (a, v) => a.policyPending === (fold(v) === 'true'),
  ContainsVulnerablePeripheralOrWLV: (a, v) =>
    any(v, (one) => a.containsVulnerablePeripheralOrWLV.split(',').some((found) => fold(found) === fold(one))),
  DeploymentMode: (a, v) => any(v, (one) => fold(a.deploymentMode) === fold(one)),
  Hashtags: (a, v) => any(v, (one) => a.hashtags.split(',').some((tag) => fold(tag) === fold(one))),
  LastUpdated: (a, v) => inRange(a.lastUpdated, v),
  LastConfiguration: (a, v) => inRange(a.lastConfiguered, v),
  ExpirationDate: (a, v) => a.expirationDate !== '' && inRange(a.expirationDate, v),
  Vendor: (a, v) =>
    hasModel(
      a,
      peripherals.filter((p) => has(p.guiVid, v) || has(p.manufacturer, v)),
    ),
  Model: (a, v) =>
    hasModel(
      a,
      peripherals.filter((p) => fold(modelOf(p)) === fold(v)),
    ),
  GlobalSearch: (a, v) =>
    [a.hostIdentifier, a.localIpAddress, a.uuid, a.serviceVersion, a.osVersion, a.pcModel, a.hashtags].some((s) =>
      has(s, v),
    ),
}
const modelOf = ({ vid, pid }: Peripheral): string => `${vid}:${pid}`
/** Returns true if a device of one of the models is attached to the host. */
const hasModel = ({ uuid }: Agent, ofModels: readonly Peripheral[]): boolean => {
  const models = new Set(ofModels.map(modelOf))
  return peripherals.some((p) => p.uuid === uuid && p.present && models.has(modelOf(p)))
}
/** Filters by facts that no row shows. */
const testedElsewhere = [
  'Owner', // features/agents/server/owner.test.ts.
  'Alert', // The hosts of an alert: features/alerts/server/watchers.test.ts.
  'ReleaseKey', // features/builds/server/release-key.test.ts.
  'PossibleDuplicate', // Needs copies of a host: features/agents/server/duplicates.test.ts.
]
/** Ranges of whole minutes, the only ones that this test writes. */
const inRange = (time: string, range: string): boolean => {
  const [from, to] = range.split('..') as [string, string]
  const minute = time.slice(0, 16)
  return (from === '' || minute >= from) && (to === '' || minute <= to)
}

const needle = fc
  .oneof(
    fc.constantFrom(
      'web',
      'WEB',
      '_',
      '%',
      '1',
      '10.',
      "'",
      '\\',
      'ä',
      'Ä',
      'ß',
      'SS',
      '本',
      'debian',
      '100%',
      'kiosk',
      'zzz',
      'i̇',
    ),
    fc
      .constantFrom(...hostNames)
      .chain((name) =>
        fc.tuple(fc.nat(name.length - 1), fc.integer({ min: 1, max: 4 })).map(([at, n]) => name.slice(at, at + n)),
      ),
  )
  .filter((text) => text.isWellFormed() && text.trim() !== '')
const minute = fc.constantFrom(
  '2031-05-04T10:10',
  '2031-05-04T10:11',
  '2031-05-04T10:12',
  '2031-05-04T10:14',
  '2031-05-04T11:00',
)
const range = fc.oneof(
  fc.tuple(minute, minute).map(([a, b]) => `${a}..${b}`),
  minute.map((a) => `${a}..`),
  minute.map((a) => `..${a}`),
)
const list = <T>(...values: T[]) => fc.subarray(values, { minLength: 1 }).map((some) => some.join(','))
const boolean = fc.constantFrom('true', 'False', 'TRUE')
const filterValues: Record<string, fc.Arbitrary<string>> = {
  HostIdentifier: needle,
  IpAddress: fc.constantFrom('10.', '.1', '10.2.0', '5'),
  Uuid: fc.constantFrom('a', '-7', '0', 'ZZ'),
  Version: fc.constantFrom('1.', '3', '.0'),
  OsVersion: fc.constantFrom('UBUNTU', '12', '_', '100%', 'x'),
  Status: list(...agentStatuses),
  License: list('Pending', 'activated'),
  Severity: fc.constantFrom('10', '30,50', '>=30', '<=40', '>= 40', '7'),
  HasUnapprovedPeripherals: boolean,
  HasVulnerablePeripherals: boolean,
  HasKnownAttackTools: boolean,
  CanBlock: boolean,
  PolicyPending: boolean,
  ContainsVulnerablePeripheralOrWLV: list('vulnerable', 'WLV'),
  DeploymentMode: list('agent', 'Agentless'),
  Hashtags: list('lab', 'KIOSK', 'ärzte', 'none'),
  LastUpdated: range,
  LastConfiguration: range,
  ExpirationDate: range,
  Vendor: fc.constantFrom('DELL', 'corp', 'Atmel', 'nobody'),
  Model: fc.constantFrom('046d:c52b', '0781:5581', '03EB:2401', 'FFFF:ffff'),
  GlobalSearch: needle,
}
const someFilters = fc
  .subarray(Object.keys(filterValues), { maxLength: 3 })
  .chain((names) =>
    fc.record(Object.fromEntries(names.map((name) => [name, filterValues[name] as fc.Arbitrary<string>]))),
  )

const query = (given: Record<string, string>): string => new URLSearchParams(given).toString()
const ids = (page: Page<Agent>): string[] => page.data.map((a) => a.uuid)

describe('the agents list', () => {
  it('has a meaning for every filter of the contract', () => {
    expect([...Object.keys(agentMeaning), ...testedElsewhere].sort()).toEqual(
      [...Object.keys(agentFilters), 'GlobalSearch'].sort(),
    )
    expect(Object.keys(filterValues).sort()).toEqual(Object.keys(agentMeaning).sort())
  })

  it('is sorted by severity, then by host, by default', () => {
    const expected = agents.toSorted(
      (a, b) =>
        b.severity - a.severity ||
        bytes(a.hostIdentifier.toLowerCase(), b.hostIdentifier.toLowerCase()) ||
        bytes(a.uuid, b.uuid),
    )
    expect(agents.map((a) => a.uuid)).toEqual(expected.map((a) => a.uuid))
    expect(new Set(agents.map((a) => a.severity))).toEqual(new Set([10, 30, 40]))
  })

  it('sorts by connection as the names do', async () => {
    const names = async (order: string) =>
      (await pageOf<Agent>(t, `agents?PageSize=1000&SortBy=connectionStatus_${order}`)).data.map(
        (a) => a.connectionStatus,
      )
    const [up, down] = [await names('asc'), await names('desc')]
    expect(new Set(up)).toEqual(new Set(['Connected', 'Disconnected']))
    expect(up).toEqual(up.toSorted())
    expect(down).toEqual(up.toReversed())
  })

  it('contains exactly the matching rows with exact counts; the summary has the same counts', async () => {
    await fc.assert(
      fc.asyncProperty(someFilters, async (filters) => {
        const left = agents.filter((a) =>
          Object.entries(filters).every(([name, value]) => agentMeaning[name]?.(a, value)),
        )
        const page = await pageOf(t, `agents?PageSize=1000&${query(filters)}`)
        expect(ids(page)).toEqual(left.map((a) => a.uuid))
        expect([page.recordsTotal, page.recordsFiltered]).toEqual([30, left.length])
        const summary = (await pageOf(t, `agents/AgentsClassificationSummary?${query(filters)}`)) as unknown as Record<
          string,
          unknown
        >
        const count = (test: (a: Agent) => boolean) => left.filter(test).length
        const group = (key: (a: Agent) => string) =>
          Object.entries(Object.groupBy(left, key))
            .map(([k, rows]) => ({ key: k, count: rows?.length }))
            .sort((a, b) => bytes(a.key, b.key))
        const sorted = (value: unknown) => (value as { key: string }[]).toSorted((a, b) => bytes(a.key, b.key))
        expect({
          ...summary,
          bySeverity: sorted(summary.bySeverity),
          byOs: sorted(summary.byOs),
          byVersion: sorted(summary.byVersion),
        }).toEqual({
          total: left.length,
          connected: count((a) => a.connectionStatus === 'Connected'),
          disconnected: count((a) => a.connectionStatus === 'Disconnected'),
          armed: count((a) => a.operationalStatus === 'Armed'),
          free: count((a) => a.operationalStatus === 'Free'),
          protection: {
            protected: count((a) => a.canBlock && a.operationalStatus === 'Armed'),
            possible: count((a) => a.canBlock && a.operationalStatus === 'Free'),
            impossible: count((a) => !a.canBlock),
          },
          unapproved: count((a) => a.hasUnapprovedPeripherals),
          vulnerable: count((a) => a.hasVulnerablePeripherals),
          knownAttackTools: count((a) => a.hasKnownAttackTools),
          bySeverity: group((a) => String(a.severity)),
          byOs: group((a) => a.osVersion),
          byVersion: group((a) => a.serviceVersion),
          license: { activated: left.length, pending: 0, expired: 0, invalid: 0 },
          deploymentMode: { agent: left.length, agentless: 0, feed: 0 },
          computedAt: new Date(t.clock.now()).toISOString(),
        })
      }),
      { numRuns: 150 },
    )
  })

  it('contains exactly the rows of a query with AND, OR and NOT', async () => {
    type Tree = { text: string; holds: (a: Agent) => boolean }
    const quoted = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`
    const term = fc
      .constantFrom(...Object.keys(filterValues))
      .chain((name) => (filterValues[name] as fc.Arbitrary<string>).map((value) => [name, value] as const))
      .map(
        ([name, value]): Tree => ({
          text: name === 'GlobalSearch' ? quoted(value) : `${name}:${quoted(value)}`,
          holds: (a) => agentMeaning[name]?.(a, value) === true,
        }),
      )
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        term,
        tie('tree').map(({ text, holds }) => ({ text: `NOT (${text})`, holds: (a: Agent) => !holds(a) })),
        fc.tuple(tie('tree'), tie('tree'), fc.boolean()).map(([one, other, isOr]) => ({
          text: `(${one.text}) ${isOr ? 'OR' : 'AND'} (${other.text})`,
          holds: (a: Agent) => (isOr ? one.holds(a) || other.holds(a) : one.holds(a) && other.holds(a)),
        })),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, fc.constantFrom('', '&SortBy=operationalStatus_asc'), async ({ text, holds }, order) => {
        const left = agents.filter(holds).map(({ uuid }) => uuid)
        const page = await pageOf(t, `agents?PageSize=1000&${query({ Query: text })}${order}`)
        expect(ids(page).toSorted()).toEqual(left.toSorted())
        expect(page.recordsFiltered).toBe(left.length)
      }),
      { numRuns: 200 },
    )
  })

  it('pages of any size add up to the list', async () => {
    await fc.assert(
      fc.asyncProperty(someFilters, fc.integer({ min: 1, max: 31 }), async (filters, size) => {
        const whole = await pageOf(t, `agents?PageSize=1000000&${query(filters)}`)
        const seen: string[] = []
        for (let n = 1; ; n++) {
          const page = await pageOf(t, `agents?PageSize=${size}&PageNumber=${n}&${query(filters)}`)
          expect(page.recordsFiltered).toBe(whole.recordsFiltered)
          seen.push(...ids(page))
          if (page.data.length < size) break
        }
        expect(seen).toEqual(ids(whole))
      }),
      { numRuns: 25 },
    )
  })
})

describe.each([
  ['agents', '', 30],
  ['agents', 'HostIdentifier=web', null],
  ['peripherals', '', null],
  ['peripherals', 'present=true', null],
  ['peripherals/models', '', null],
])('a page of %s?%s past the end', (path, filters, rows) => {
  it('has no rows and the counts of the first', async () => {
    const first = await pageOf(t, `${path}?${filters}`)
    if (rows !== null) expect(first.recordsFiltered).toBe(rows)
    expect(first.recordsFiltered).toBeGreaterThan(0)
    for (const place of ['PageSize=1000&PageNumber=2', 'PageSize=1&PageNumber=2147483647', 'PageNumber=50'])
      expect(await pageOf(t, `${path}?${filters}&${place}`), place).toEqual({ ...first, data: [] })
  })
})

describe('the end of time', () => {
  it.each([
    ['agents?LastUpdated=2031-01-01..9999-12-31', 30],
    ['agents?LastConfiguration=..9999-12-31T23:59:59Z', 30],
    ['agents?LastUpdated=9999-12-31', 0],
    ['agents?ExpirationDate=12/31/9999', 0],
    ['agents/commands?createdAt=..9999-12-31', 0],
    ['agents/errorTotal?FromDate=2031-05-04&ToDate=9999-12-31', 0],
    ['events/getevents?category=Agent&source=web-1&toDate=9999-12-31T23:59:59.999999', null],
  ])('%s is a valid time', async (path, rows) => {
    const { recordsFiltered } = await pageOf(t, path)
    if (rows === null) expect(recordsFiltered).toBeGreaterThan(0)
    else expect(recordsFiltered).toBe(rows)
  })
})

describe('a host that was just added', () => {
  it('is on the page at once, and counted there, although counts may be a second old', async () => {
    const path = 'agents?HostIdentifier=just-come'
    expect(await pageOf(t, path)).toMatchObject({ recordsFiltered: 0, data: [] })
    const agent = await enrolAgent(t, { facts: { hostname: 'just-come' } })
    const page = await pageOf(t, path)
    expect([page.recordsFiltered, page.data.map((a) => a.uuid)]).toEqual([1, [agent.agentId]])
    await (await t.admin()).post('/prime/webui/agents/deleteAgents', [agent.agentId])
    expect(await pageOf(t, path)).toMatchObject({ recordsFiltered: 0, data: [] })
    t.clock.advance(1_000)
    expect((await pageOf(t, 'agents')).recordsTotal).toBe(30)
  })
})

describe('the peripherals list', () => {
  const meaning: Record<string, (p: Peripheral, value: string) => boolean> = {
    hostIdentifier: (p, v) => has(p.hostIdentifier, v),
    ipAddress: (p, v) => has(p.hostIp, v),
    hostUuid: (p, v) => has(p.uuid, v),
    vendor: (p, v) => has(p.guiVid, v) || has(p.manufacturer, v),
    productInfo: (p, v) => has(p.guiPid, v) || has(p.caption, v),
    serialNumber: (p, v) => has(p.serialNumber, v),
    vid: (p, v) => has(p.vid, v),
    pid: (p, v) => has(p.pid, v),
    devIcon: (p, v) => any(v, (n) => p.devIcon === Number(n)),
    present: (p, v) => p.present === (fold(v) === 'true'),
    isVulnerablePeripheral: (p, v) => p.isVulnerablePeripheral === (fold(v) === 'true'),
    isKnownAttackTool: (p, v) => p.isKnownAttackTool === (fold(v) === 'true'),
    isUnapprovedPeripheral: (p, v) => p.isUnapprovedPeripherals === (fold(v) === 'true'),
  }
  const values: Record<string, fc.Arbitrary<string>> = {
    hostIdentifier: needle,
    ipAddress: fc.constantFrom('10.', '.1', '5'),
    hostUuid: fc.constantFrom('a', '-7', 'zz'),
    vendor: fc.constantFrom('DELL', 'corp', 'Corp. Dell', 'Atmel Corp', 'nobody'),
    productInfo: fc.constantFrom('keyboard', 'Keyboard Dell', 'YUBI', '5', 'nothing'),
    serialNumber: fc.constantFrom('4C', '1', 'f0b', 'x'),
    vid: fc.constantFrom('046', 'd', '0781', 'x'),
    pid: fc.constantFrom('5', 'C5', '2401'),
    devIcon: list('1', '3', '4', '98'),
    present: boolean,
    isVulnerablePeripheral: boolean,
    isKnownAttackTool: boolean,
    isUnapprovedPeripheral: boolean,
  }
  it('contains exactly the matching rows with exact counts', async () => {
    const id = (p: Peripheral) => `${p.uuid} ${p.deviceID}`
    await fc.assert(
      fc.asyncProperty(
        fc
          .subarray(Object.keys(values), { maxLength: 3 })
          .chain((names) => fc.record(Object.fromEntries(names.map((n) => [n, values[n] as fc.Arbitrary<string>])))),
        async (filters) => {
          const left = peripherals.filter((p) =>
            Object.entries(filters).every(([name, value]) => meaning[name]?.(p, value)),
          )
          const page = await pageOf<Peripheral>(t, `peripherals?PageSize=1000&${query(filters)}`)
          expect(page.data.map(id).sort()).toEqual(left.map(id).sort())
          expect([page.recordsTotal, page.recordsFiltered]).toEqual([peripherals.length, left.length])
        },
      ),
      { numRuns: 100 },
    )
  })

  it.each(['', '/models'])('%s finds ids as they are written', async (path) => {
    const first = peripherals[0] as Peripheral
    const search = async (text: string) =>
      (await pageOf<Peripheral>(t, `peripherals${path}?PageSize=1000&GlobalSearch=${encodeURIComponent(text)}`)).data
    for (const separator of [':', '/']) {
      const found = await search(`${first.vid}${separator}${first.pid.toLowerCase()}`)
      expect(found.length).toBeGreaterThan(0)
      expect(found.filter((p) => p.vid !== first.vid || p.pid !== first.pid)).toEqual([])
    }
    expect(await search('ffff:ffff')).toEqual([])
  })

  it('of one host contains only the peripherals of that host', async () => {
    const [host] = agents
    const page = await pageOf<Peripheral>(t, `peripherals/${host?.uuid}?PageSize=100`)
    expect(page.data.map((p) => p.uuid)).toEqual(page.data.map(() => host?.uuid))
    const ofHost = peripherals.filter((p) => p.uuid === host?.uuid).length
    expect(page.recordsTotal).toBe(ofHost)
    const none = await pageOf<Peripheral>(t, `peripherals/${host?.uuid}?GlobalSearch=nothing-like-it`)
    expect([none.recordsTotal, none.recordsFiltered]).toEqual([ofHost, 0])
    const admin = await t.admin()
    for (const unknown of ['x', '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f', `${host?.uuid.toUpperCase()}`])
      expect((await admin.get(`/prime/webui/peripherals/${unknown}`)).statusCode).toBe(404)
  })
})
