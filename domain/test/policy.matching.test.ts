import type { PolicyRule } from '@portcullis/contract/policy-and-commands.ts'
import { describe, expect, it } from 'vitest'
import {
  caseNumber,
  decide,
  isAllowing,
  type PolicyDevice,
  parseReport,
  policyDevice,
  policySources,
  ruleMatches,
  sourceNumber,
  sourceOf,
  sourcesSql,
  steadyReport,
} from '../src/index.ts'
import { buildDevice, plainKeyboard, plainMouse, storageStick } from '../src/testing.ts'

const [exact, withoutRevision, foreign] = ['a'.repeat(32), 'b'.repeat(32), 'c'.repeat(32)]

const stick: PolicyDevice = {
  vid: '0781',
  pid: '5581',
  serial: 'S1',
  kinds: ['Mass Storage'],
  mayType: false,
  isHub: false,
  fingerprint: exact,
  fingerprintWithoutRevision: withoutRevision,
  ruleFingerprint: 'd'.repeat(32),
  attackTool: null,
}
const ruleOf = (asks: Partial<PolicyRule>): PolicyRule => ({ id: 'r', effect: 'allow', level: 'global', ...asks })

describe.each(['allow', 'deny'] as const)('conditions of an %s rule', (effect) => {
  it.each<[string, Partial<PolicyRule>, boolean]>([
    ['its vendor', { vid: '0781' }, true],
    ['another vendor', { vid: '1234' }, false],
    ['its vendor and product', { vid: '0781', pid: '5581' }, true],
    ['its vendor and another product', { vid: '0781', pid: '5583' }, false],
    ['its product and another vendor', { vid: '1234', pid: '5581' }, false],
    ['its vendor and serial number', { vid: '0781', serial: 'S1' }, true],
    ['its vendor and another serial number', { vid: '0781', serial: 'S2' }, false],
    ['its vendor and the lack of a serial number', { vid: '0781', serial: '' }, false],
    ['its exact fingerprint', { fingerprint: exact }, true],
    ['its fingerprint without revision', { fingerprint: withoutRevision }, true],
    ['its rule fingerprint', { fingerprint: stick.ruleFingerprint }, true],
    ['its rule fingerprint at another speed', { fingerprint: foreign, ruleFingerprint: stick.ruleFingerprint }, true],
    ['another rule fingerprint', { fingerprint: foreign, ruleFingerprint: foreign }, false],
    ['its fingerprint and another rule fingerprint', { fingerprint: exact, ruleFingerprint: foreign }, true],
    ['another fingerprint', { fingerprint: foreign }, false],
    ['its vendor and another fingerprint', { vid: '0781', fingerprint: foreign }, false],
    ['its fingerprint and another vendor', { vid: '1234', fingerprint: exact }, false],
    ['its kind', { kinds: ['Mass Storage'] }, true],
    ['its kind or another', { kinds: ['Audio', 'Mass Storage'] }, true],
    ['another kind', { kinds: ['Audio'] }, false],
    ['its vendor and another kind', { vid: '0781', kinds: ['Audio'] }, false],
    ['its kind and another serial number', { kinds: ['Mass Storage'], serial: 'S2' }, false],
    [
      'everything that it is',
      { vid: '0781', pid: '5581', serial: 'S1', kinds: ['Mass Storage'], fingerprint: exact },
      true,
    ],
    ['its serial number in another case', { vid: '0781', serial: 's1' }, true],
    ['its serial number with a hidden character', { vid: '0781', serial: 'S%071' }, false],
    ['nothing', {}, false],
    ['its product alone', { pid: '5581' }, false],
    ['its serial number alone', { serial: 'S1' }, false],
    ['its product and serial number', { pid: '5581', serial: 'S1' }, false],
  ])('%s', (_, asks, matches) => {
    expect(ruleMatches(ruleOf({ effect, ...asks }), stick)).toBe(matches)
  })
})

describe('devices that an allow rule by kind covers', () => {
  it.each<[string, PolicyDevice['kinds'], mayType: boolean, PolicyRule['kinds'] & object, boolean]>([
    ['a keyboard with media keys, by keyboard', ['Keyboard', 'HID'], true, ['Keyboard'], true],
    ['a keyboard with a pointer, by keyboard', ['Keyboard', 'Mouse'], true, ['Keyboard'], false],
    ['a keyboard with a pointer, by both', ['Keyboard', 'Mouse'], true, ['Keyboard', 'Mouse'], true],
    ['a remote control, by HID', ['HID'], true, ['HID'], false],
    ['a remote control, by keyboard', ['HID'], true, ['Keyboard'], true],
    ['storage with a HID part, by storage', ['Mass Storage', 'HID'], false, ['Mass Storage'], false],
    ['storage that may type, by storage', ['Mass Storage'], true, ['Mass Storage'], false],
    ['storage that may type, by storage and keyboard', ['Mass Storage'], true, ['Mass Storage', 'Keyboard'], true],
  ])('%s', (_, kinds, mayType, named, matches) => {
    expect(ruleMatches(ruleOf({ kinds: named }), { ...stick, kinds, mayType })).toBe(matches)
  })
})

describe('the reported rule', () => {
  it.each<[string, Partial<PolicyRule>, Partial<PolicyRule>]>([
    [
      'names the serial number instead of all other fields',
      { vid: '0781', serial: 'S1' },
      { vid: '0781', pid: '5581', kinds: ['Mass Storage'], fingerprint: exact },
    ],
    ['names the fingerprint', { fingerprint: exact }, { vid: '0781', pid: '5581', kinds: ['Mass Storage'] }],
    ['names the product', { vid: '0781', pid: '5581' }, { vid: '0781', kinds: ['Mass Storage'] }],
    ['names the vendor', { vid: '0781' }, { kinds: ['Mass Storage'] }],
    ['names the vendor, too', { vid: '0781', kinds: ['Mass Storage'] }, { kinds: ['Mass Storage'] }],
    ['names the vendor and a fingerprint', { vid: '0781', fingerprint: exact }, { fingerprint: exact }],
    ['names the kind, too', { vid: '0781', kinds: ['Mass Storage'] }, { vid: '0781' }],
  ])('is the one that %s, even if its ID is greater', (_, more, less) => {
    const [named, other] = [ruleOf({ ...more, id: 'z' }), ruleOf({ ...less, id: 'a' })]
    expect(decide([named, other], stick, 0).ruleId).toBe('z')
    expect(decide([other, named], stick, 0).ruleId).toBe('z')
  })
})

describe('the sources of decisions', () => {
  it('have the numbers that the database stores', () => {
    expect(policySources.map(sourceNumber)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(policySources.map((source) => sourceOf(sourceNumber(source)))).toEqual(policySources)
    expect(sourceOf(8)).toBe('default')
    expect(sourcesSql('deny', 'default')).toBe('(2, 7)')
  })

  it('allow, except attack tools, deny rules and the implicit block', () => {
    expect(policySources.filter(isAllowing)).toEqual(['hub', 'grant', 'host', 'tag', 'global'])
  })
})

describe('the data for a decision', () => {
  const of = (report: ReturnType<typeof storageStick>) => policyDevice(parseReport(report), report, null)
  const { serial: _, ...withoutText } = storageStick({ portPath: '1-1' })

  it.each<[string, ReturnType<typeof storageStick>, Partial<PolicyDevice>]>([
    ['a serial number, escaped', storageStick({ portPath: '1-1', serial: ' S\u200b1 ' }), { serial: '%20S%u200B1%20' }],
    ['no serial number', plainMouse({ portPath: '1-1' }), { serial: '' }],
    ['a serial number that could not be read', withoutText, { serial: '' }],
    ['storage', storageStick({ portPath: '1-1' }), { kinds: ['Mass Storage'], mayType: false }],
    ['storage with a keyboard', storageStick({ interfaces: ['08:06:50', '03:01:01'] }), { mayType: true }],
    ['a keyboard without HID class', storageStick({ interfaces: ['58:42:00'] }), { kinds: ['HID'], mayType: true }],
    ['one part of unknown kind', storageStick({ interfaces: ['ff:ff:00'] }), { kinds: ['Unknown'], mayType: false }],
    [
      'storage with a part of unknown kind',
      storageStick({ interfaces: ['08:06:50', 'ff:ff:00'] }),
      { kinds: ['Mass Storage', 'Unknown'] },
    ],
  ])('%s', (_what, report, expected) => {
    expect(of(report)).toMatchObject(expected)
  })

  it('treats truncated descriptors as any kind', () => {
    const report = buildDevice({ portPath: '1-1', vid: '0781', pid: '5581', interfaces: ['08:06:50'] })
    const descriptors = Buffer.from(report.descriptors, 'base64').subarray(0, -1).toString('base64')
    expect(of({ ...report, descriptors })).toMatchObject({ kinds: ['Mass Storage', 'Unknown'], mayType: true })
  })

  it('uses cleaned texts and nothing that depends on a bound driver', () => {
    const report = plainKeyboard({ portPath: '1-1' })
    const texts = { manufacturer: ' DELL ', product: 'KB216\u200b', serial: ' ' }
    const { manufacturer: _m, product: _p, serial: _s, ...rest } = report
    expect(steadyReport({ ...report, ...texts, configuration: 'v1.2', reportDescriptors: ['BQEJBqEBwA=='] })).toEqual({
      ...rest,
      manufacturer: 'DELL',
      product: 'KB216',
    })
    expect(steadyReport(rest)).toEqual(rest)
  })
})

it('the case number of a device on a host never changes', () => {
  const device = {
    vid: '0781',
    pid: '5581',
    serial: 'S1',
    portPath: '1-1',
    fingerprintWithoutRevision: withoutRevision,
  }
  expect(caseNumber('agent', device)).toBe('PC-M79XXJ')
})
