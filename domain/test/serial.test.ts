import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import type { PolicyRule } from '@portcullis/contract/policy-and-commands.ts'
import {
  cleanText,
  deviceId,
  escapeText,
  isSameSerial,
  parseReport,
  policyDevice,
  ruleMatches,
  serialKey,
  unescapeText,
  windowsReports,
} from '@portcullis/domain'
import { storageStick } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

/** Texts that devices may send: control and invisible characters, combining marks, lone surrogates, blanks and escapes. */
const character = fc.oneof(
  fc.constantFrom(...' _%\\aAbB19uß\u0130{}&'),
  fc.constantFrom('%20', '%u200B', '%u{1F600}', 'e\u0301', '\u00e9', '\u212b', '\u00c5', '\ud800', '\udc00'),
  fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
)
const serial = fc.array(character, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''))

/** What two serial numbers have in common if they are the same, computed from the original text. */
const same = (text: string): string => text.replace(/[A-Z]/g, (c) => c.toLowerCase()).replaceAll('_', ' ')

const of = (report: DeviceReport) => policyDevice(parseReport(report), report, null)
const ruleFor = (text: string): PolicyRule => ({
  ...{ id: 'r', effect: 'allow', level: 'host', vid: '0781', pid: '5581' },
  serial: of(storageStick({ serial: text })).serial,
})

describe('serial numbers', () => {
  it('are shown with every hidden character', () => {
    expect(escapeText('4C531001')).toBe('4C531001')
    expect(escapeText('T\u0006\u0081f\u200b\u{e0041}')).toBe('T%06%81f%u200B%u{E0041}')
    expect(escapeText(' A  B ')).toBe('%20A%20 B%20')
    expect(escapeText('50%\\ %20 %u20')).toBe('50%%5C %2520 %25u20')
    expect(escapeText('\ud800\ufeff\u00a0')).toBe('%uD800%uFEFF%A0')
    // Both look like the letter e with an accent.
    expect([escapeText('\u00e9'), escapeText('e\u0301')]).toEqual(['\u00e9', 'e%u0301'])
    expect(unescapeText('50% of %zz %u{110000}')).toBe('50% of %zz %u{110000}')
  })

  it('are shown as visible text, and unescaping returns the original', () => {
    fc.assert(
      fc.property(serial, (text) => {
        const shown = escapeText(text)
        expect(unescapeText(shown)).toBe(text)
        expect(cleanText(shown, 4_000)).toBe(shown)
        expect(shown).not.toContain('\\')
      }),
    )
  })

  it('are the same if and only if all characters are, ignoring case and with a space for _', () => {
    fc.assert(
      fc.property(serial, serial, (a, b) => {
        const isSame = same(a) === same(b)
        expect(isSameSerial(escapeText(a), escapeText(b))).toBe(isSame)
        expect(serialKey(escapeText(a)) === serialKey(escapeText(b))).toBe(isSame)
        expect(ruleMatches(ruleFor(a), of(storageStick({ serial: b })))).toBe(isSame)
        if (a !== b) expect(deviceId('0781', '5581', a, '1-1')).not.toBe(deviceId('0781', '5581', b, '1-1'))
      }),
      { numRuns: 2_000 },
    )
    fc.assert(
      fc.property(serial, (text) => {
        const other = text.replaceAll(' ', '_').replace(/[a-z]/g, (c) => c.toUpperCase())
        expect(isSameSerial(escapeText(text), escapeText(other))).toBe(true)
      }),
    )
  })

  it('stay the same from Linux to Windows', () => {
    const linux = storageStick({ serial: 'aa 00 bb' })
    const node = { InstanceId: 'USB\\VID_0781&PID_5581\\AA_00_BB', Capabilities: 0x94 }
    const windows = windowsReports([node]).map(({ report }) => of(report))[0]!
    expect(ruleMatches(ruleFor('aa 00 bb'), windows)).toBe(true)
    expect(ruleMatches({ ...ruleFor('x'), serial: windows.serial }, of(linux))).toBe(true)
  })

  it('of a rule of an earlier release match all that was cleaned to them', () => {
    const rule = { ...ruleFor('P f g'), hasCleanedSerial: true }
    for (const text of ['P f g', 'p\u0001f\u0002g', ' P f\u200b g ', 'P_f_g'])
      expect(ruleMatches(rule, of(storageStick({ serial: text })))).toBe(true)
    expect(ruleMatches(rule, of(storageStick({ serial: 'P f h' })))).toBe(false)
    expect(ruleMatches(ruleFor('P f g'), of(storageStick({ serial: 'P\u0001f\u0002g' })))).toBe(false)
  })
})
