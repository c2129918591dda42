import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { evaluated } from '@portcullis/server/test/evaluated.ts'
import { describe, expect, it } from 'vitest'
import type { Fingerprint } from '#features/devices/server/index.ts'
import type { HostPeripheral } from '#features/policy/server/index.ts'
import { applyReport, type EvaluatedChange } from './apply-report.ts'
import { droppedEvent, errorEventKind, eventsOf, modeEvent } from './report-events.ts'

const host = { agent_id: 'a', host: 'H', address: '10.0.0.1', hashtags: 'lab' }
const ofHost = { agentId: 'a', entity: 'H (10.0.0.1)', hashtags: 'lab' }
const occurred = { at: Date.parse('2031-05-04T10:11:12.345Z'), uncertaintyMs: 1 }
const stick = (change: object = {}) => ({ ...storageStick({ portPath: '1-1', serial: 'S1' }), ...change })
const enforced = (change: object = {}) =>
  ({ authorized: false, enforced: { effect: 'block', source: 'deny', ruleId: null, ...change } }) as object
const attach = (report = stick(), verdict: Partial<Fingerprint> = {}, more: object = {}): EvaluatedChange => ({
  ...{ op: 'attached', device: evaluated(report, verdict), occurred },
  ...more,
})
const known = new Map<string, HostPeripheral>()
const of = (
  changes: readonly EvaluatedChange[],
  { stored = [] as readonly HostPeripheral[], isArmed = false, isFirst = false, evaluated: by = known } = {},
) => eventsOf(host, applyReport(stored, changes, null), isFirst, by, isArmed)
const after = (...changes: EvaluatedChange[]) => applyReport([], changes, null).all
const kinds = (events: ReturnType<typeof of>) => events.map(({ kind }) => kind)
const details = '[Agent] Device VID/PID are 0781/5581 SN S1  (Maker Stick)'
const named = { vendorName: 'Maker', productName: 'Stick', icon: 7 }

describe('the events of a report', () => {
  it('name host, device and time', () => {
    const [attached] = of([attach(stick(), named)])
    expect(attached).toEqual({
      ...{ ...ofHost, kind: 'attached', icon: 7, deviceId: 'USB\\VID_0781&PID_5581\\S1', details, occurred },
    })
    const [gone] = of([{ op: 'removed', portPath: '1-1', occurred }], { stored: after(attach(stick(), named)) })
    expect(gone).toEqual({ ...attached, kind: 'gone' })
  })

  it('count how often a device came back', () => {
    const events = (repeated: object) => of([attach(stick(), named, { repeated })])[0]
    expect(events({ count: 1_999, last: occurred })).toMatchObject({
      ...{ details: `${details}: attached 1,999 more times, last at 2031-05-04T10:11:12Z`, times: 2_000 },
    })
    expect(events({ count: 1, last: undefined })).toMatchObject({
      details: `${details}: attached 1 more time`,
      times: 2,
    })
  })

  it('distinguish the first attachment from later ones', () => {
    const [stored] = after(attach())
    const gone = { ...(stored as HostPeripheral), present: false, controller: '' }
    const told = (report: object, lastHosts = new Map<string, string>()) => {
      const { kind, details } = eventsOf(
        host,
        applyReport([gone], [attach(stick(report), named)], null),
        false,
        known,
        false,
        lastHosts,
      )[0] as ReturnType<typeof of>[number]
      return [kind, details.replace(/^.*\(Maker Stick\)(: )?/, '')]
    }
    expect(kinds(of([attach()]))).toEqual(['attached'])
    expect(told({})).toEqual(['attachedAgain', ''])
    expect(told({ portPath: '3-1' })).toEqual(['attachedAgain', ''])
    expect(told({ portPath: '1-2' })).toEqual(['moved', 'last attached to port 1-1'])
    const elsewhere = new Map([[gone.deviceId, 'WS-2']])
    expect(told({ portPath: '1-2' }, elsewhere)).toEqual(['moved', 'last attached to WS-2'])
    // Without a serial number, the device at another port is another one.
    const other = { ...gone, serial: '' }
    expect(
      kinds(
        eventsOf(
          host,
          applyReport([other], [attach(stick({ portPath: '1-2', serial: '' }))], null),
          false,
          known,
          false,
        ),
      ),
    ).toEqual(['attached'])
  })

  it('of the first inventory are one, and its findings', () => {
    const [one, two] = [attach(), attach(plainKeyboard({ portPath: '1-2' }), { attackTool: 'confirmed' })]
    const first = of([one, two], { isFirst: true })
    expect(first[0]).toEqual({ ...ofHost, kind: 'inventory', details: '2 devices attached' })
    expect(kinds(first)).toEqual(['inventory', 'attackTool'])
    const all = [one, two, { op: 'removed' as const, portPath: '1-2' }]
    expect(of(all, { isFirst: true })[0]?.details).toBe('1 device attached')
  })
})

describe('a finding about a device', () => {
  it('raises an event when it is new or more certain', () => {
    const levels = [null, 'suspected', 'confirmed'] as const
    const raised = levels.map((before) =>
      levels.map((now) =>
        kinds(of([attach(stick(), { attackTool: now, id: 900, severity: 20 })], { stored: [] })).includes('attackTool')
          ? [before, now]
          : null,
      ),
    )
    expect(raised[0]?.map((one) => one !== null)).toEqual([false, true, true])
    const moved = (before: (typeof levels)[number], now: (typeof levels)[number]) => {
      const stored = after(attach(stick(), { attackTool: before }))
      return kinds(of([attach(stick(), { attackTool: now, descriptors: stick().descriptors })], { stored }))
    }
    expect(moved(null, 'suspected')).toEqual(['attackTool'])
    expect(moved('suspected', 'confirmed')).toEqual(['attackTool'])
    expect(moved('confirmed', 'suspected')).toEqual([])
    expect(moved('confirmed', null)).toEqual([])
  })

  it('raises an event when the device becomes vulnerable, and not again', () => {
    const vulnerable = { vulnerable: true }
    expect(kinds(of([attach(stick(), vulnerable)]))).toEqual(['attached', 'vulnerable'])
    const stored = after(attach(stick()))
    expect(kinds(of([attach(stick(), vulnerable)], { stored }))).toEqual(['vulnerable'])
    const known = after(attach(stick(), vulnerable))
    expect(kinds(of([attach(stick(), { ...vulnerable, severity: 20 })], { stored: known }))).toEqual([])
    // The same fingerprint at another speed.
    expect(kinds(of([attach(stick({ speedMbps: 12 }), vulnerable)], { stored: known }))).toEqual([])
  })

  it('raises an event for drivers that contradict its claim, unless the port is held', () => {
    const mismatch = { bound: [{ interface: 0, claims: 'Mass Storage', driver: 'usbhid' }] }
    const [, unmasked] = of([attach(stick({ mismatch }), named)])
    expect(unmasked).toMatchObject({ kind: 'driverMismatch', occurred })
    expect(unmasked?.details).toMatch(/^.*\(Maker Stick\): claims mass storage, .*; the host blocks nothing$/)
    expect(kinds(of([attach(stick({ mismatch, ...enforced({ held: true }) }))]))).not.toContain('driverMismatch')
    expect(kinds(of([attach(stick({ mismatch, ...enforced({ held: false }) }))]))).toContain('driverMismatch')
  })

  it('raises an event for an unknown driver, unless the port is held', () => {
    const mismatch = { bound: [{ interface: 0, claims: 'Mass Storage', driver: 'new' }], kernel: '7.4.1' }
    const [, unknown] = of([attach(stick({ mismatch }), named)])
    expect(unknown).toMatchObject({
      kind: 'unknownDriver',
      details: `${details}: claims mass storage, bound the unknown driver new (kernel 7.4.1)`,
    })
    expect(kinds(of([attach(stick({ mismatch, ...enforced({ held: true }) }))]))).not.toContain('unknownDriver')
  })
})

describe('a blocked device', () => {
  const blocked = (events: ReturnType<typeof of>) => events.find(({ kind }) => kind === 'blocked')

  it('raises an event with the reason and the case number', () => {
    const [peripheral] = after(attach(stick(enforced()), named))
    if (peripheral === undefined) return expect.unreachable()
    const by = (change: Partial<HostPeripheral>) => new Map([[peripheral.deviceId, { ...peripheral, ...change }]])
    const armed = (report: object, evaluated = new Map<string, HostPeripheral>()) =>
      blocked(of([attach(stick(report), named)], { isArmed: true, evaluated }))
    expect(armed(enforced())).toEqual({
      ...{ ...ofHost, kind: 'blocked', icon: 7, deviceId: peripheral.deviceId, occurred },
      details: `${details}: Denied by a rule`,
    })
    expect(armed(enforced(), by({ caseNumber: '42' }))?.details).toBe(`${details}: Denied by a rule, case number 42`)
    expect(armed({ authorized: false }, by({ source: 'default' }))?.details).toBe(`${details}: No rule allows it`)
    expect(armed({ authorized: false })?.details).toBe(details)
  })

  it('raises one on an armed host, or if the agent names its decision', () => {
    expect(blocked(of([attach(stick({ authorized: false }))]))).toBeUndefined()
    expect(blocked(of([attach(stick({ authorized: false }))], { isArmed: true }))).toBeDefined()
    expect(blocked(of([attach(stick(enforced()))]))).toBeDefined()
    expect(blocked(of([attach(stick())], { isArmed: true }))).toBeUndefined()
  })

  it('raises one when it is blocked later, and not again', () => {
    const stored = after(attach(stick()))
    expect(kinds(of([attach(stick(enforced()))], { stored }))).toEqual(['blocked'])
    const before = after(attach(stick(enforced())))
    expect(kinds(of([attach(stick(enforced({ source: 'default' })))], { stored: before }))).toEqual([])
    const gone = of([{ op: 'removed', portPath: '1-1' }], { stored: before, isArmed: true })
    expect(kinds(gone)).toEqual(['gone'])
    const usable = of([{ op: 'removed', portPath: '1-1' }], { stored, isArmed: true })
    expect(kinds(usable)).toEqual(['gone'])
  })
})

describe('the event of a host', () => {
  it('about its mode distinguishes a command from a reason of the host', () => {
    expect(modeEvent(host, true, '')).toEqual({ ...ofHost, kind: 'armed', details: '' })
    expect(modeEvent(host, false, '')).toEqual({ ...ofHost, kind: 'freed', details: '' })
    expect(modeEvent(host, false, 'root')).toEqual({ ...ofHost, kind: 'reverted', details: 'root' })
  })

  it('about dropped changes counts them and says when', () => {
    const later = { at: occurred.at + 60_000, uncertaintyMs: 1 }
    const dropped = (change: object) => droppedEvent(host, { op: 'dropped', portPath: '1-1', ...change })
    expect(dropped({ occurred })).toEqual({
      ...{ ...ofHost, kind: 'changesDropped', occurred },
      details: 'Port 1-1: 1 change between 2031-05-04T10:11:12Z and 2031-05-04T10:11:12Z',
    })
    expect(dropped({ occurred, repeated: { count: 1_234, last: later } }).details).toBe(
      'Port 1-1: 1,235 changes between 2031-05-04T10:11:12Z and 2031-05-04T10:12:12Z',
    )
    expect(dropped({}).details).toBe('Port 1-1: 1 change between ? and ?')
  })

  it('about an error has its own kind if the error is critical', () => {
    expect(['update_refused', 'held_ports_full', 'disk_full'].map(errorEventKind)).toEqual([
      ...['updateRefused', 'heldPortsFull', 'agentError'],
    ])
  })
})
