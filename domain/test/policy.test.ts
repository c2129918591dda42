import type { PolicyRule } from '@portcullis/contract/policy-and-commands.ts'
import { policyKinds } from '@portcullis/contract/policy-kinds.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  caseNumber,
  decide,
  hasWhitelist,
  type PolicyDevice,
  parseReport,
  policyDevice,
  ruleMatches,
} from '../src/index.ts'
import { buildDevice, hub, plainKeyboard, plainMouse, storageStick } from '../src/testing.ts'

const now = Date.parse('2026-03-01T12:00:00Z')

const kinds = fc.subarray(
  [...policyKinds].filter((k) => k !== 'Hub'),
  { minLength: 1, maxLength: 3 },
)
const hex = fc.constantFrom('0781', '046D', '1234')
const print = fc.constantFrom('a'.repeat(32), 'b'.repeat(32))
const device: fc.Arbitrary<PolicyDevice> = fc.record({
  vid: hex,
  pid: hex,
  serial: fc.constantFrom('', 'S1', 'S2'),
  kinds,
  mayType: fc.boolean(),
  isHub: fc.constant(false),
  fingerprint: print,
  fingerprintWithoutRevision: print,
  ruleFingerprint: print,
  attackTool: fc.constantFrom(null, null, 'suspected' as const, 'confirmed' as const),
})
const rule: fc.Arbitrary<PolicyRule> = fc.record(
  {
    id: fc.uuid(),
    effect: fc.constantFrom('allow' as const, 'deny' as const),
    level: fc.constantFrom('grant' as const, 'host' as const, 'tag' as const, 'global' as const),
    vid: hex,
    pid: hex,
    serial: fc.constantFrom('S1', 'S2'),
    kinds: kinds.map((k) => [...k]),
    fingerprint: print,
    expiresAt: fc.constantFrom('2026-03-01T11:59:59Z', '2026-03-01T12:00:01Z'),
    overrideAttackTool: fc.boolean(),
  },
  { requiredKeys: ['id', 'effect', 'level'] },
)
const rules = fc.array(rule, { maxLength: 12 })

/** The documented precedence, rank by rank. */
const asWritten = (all: readonly PolicyRule[], d: PolicyDevice): string => {
  const speaks = all.filter((r) => (r.expiresAt === undefined || Date.parse(r.expiresAt) > now) && ruleMatches(r, d))
  const allows = speaks.filter((r) => r.effect === 'allow' && (d.attackTool === null || r.overrideAttackTool === true))
  if (d.attackTool !== null && allows.length === 0) return 'attack-tool'
  if (speaks.some((r) => r.effect === 'deny')) return 'deny'
  return ['grant', 'host', 'tag', 'global'].find((level) => allows.some((r) => r.level === level)) ?? 'default'
}

describe('decide', () => {
  it('follows the precedence: attack tool, deny, grant, host, tag, global, default', () => {
    fc.assert(
      fc.property(rules, device, (all, d) => {
        const { source, effect } = decide(all, d, now)
        expect(source).toBe(asWritten(all, d))
        expect(effect).toBe(['attack-tool', 'deny', 'default'].includes(source) ? 'block' : 'allow')
      }),
      { numRuns: 5_000 },
    )
  })

  it('does not depend on the order of the rules', () => {
    fc.assert(
      fc.property(rules, device, (all, d) => {
        expect(decide(all.toReversed(), d, now)).toEqual(decide(all, d, now))
      }),
    )
  })

  it('reports a given rule that matches and has the effect', () => {
    fc.assert(
      fc.property(rules, device, (all, d) => {
        const { ruleId, effect, source } = decide(all, d, now)
        const named = all.filter((r) => r.id === ruleId)
        if (source === 'default' || source === 'attack-tool') expect(ruleId).toBeNull()
        else expect(named.some((r) => ruleMatches(r, d) && (r.effect === 'allow') === (effect === 'allow'))).toBe(true)
      }),
    )
  })

  it('an additional deny never allows, and an additional allow never blocks', () => {
    fc.assert(
      fc.property(rules, rule, device, (all, more, d) => {
        const [was, is] = [decide(all, d, now).effect, decide([...all, more], d, now).effect]
        if (was !== is) expect(is).toBe(more.effect === 'allow' ? 'allow' : 'block')
      }),
    )
  })
})

const typingStick = buildDevice({ portPath: '1-1', vid: '0781', pid: '5581', interfaces: ['08:06:50', '03:01:01'] })

describe('an allow rule by kind', () => {
  const of = (report: ReturnType<typeof storageStick>, attack: 'confirmed' | null = null) =>
    policyDevice(parseReport(report), report, attack)
  const allow = (...names: PolicyRule['kinds'] & object): PolicyRule => ({
    id: 'r',
    effect: 'allow',
    level: 'global',
    kinds: names,
  })

  it('covers a device only if it has no other kind', () => {
    const duck = of(typingStick)
    expect(duck.kinds).toContain('Keyboard')
    expect(decide([allow('Mass Storage')], duck, now).effect).toBe('block')
    expect(decide([allow('Mass Storage')], of(storageStick({ portPath: '1-1' })), now).effect).toBe('allow')
  })

  it('does not cover a device with an undeclared function', () => {
    const odd = of(buildDevice({ portPath: '1-1', vid: '0781', pid: '5581', interfaces: ['08:06:50', 'ff:ff:00'] }))
    expect(decide([allow('Mass Storage')], odd, now).effect).toBe('block')
    expect(decide([allow('Mass Storage', 'Unknown')], odd, now).effect).toBe('allow')
  })

  it('never allows a mouse, because only its report descriptor shows what it sends', () => {
    const mouse = of(plainMouse({ portPath: '1-1' }))
    expect(mouse.kinds).toEqual(['Mouse'])
    expect(decide([allow('Mouse', 'HID')], mouse, now).effect).toBe('block')
    expect(decide([allow('Mouse', 'Keyboard')], mouse, now).effect).toBe('allow')
  })

  it('never allows a HID device that may be a keyboard', () => {
    const kvm = of(buildDevice({ portPath: '1-1', vid: '3346', pid: '1009', interfaces: ['03:00:00'] }))
    expect(decide([allow('HID', 'Mass Storage', 'Mouse', 'Network')], kvm, now).effect).toBe('block')
  })

  it('a deny rule by kind covers devices with other kinds as well', () => {
    const deny: PolicyRule = { id: 'd', effect: 'deny', level: 'global', kinds: ['Keyboard'] }
    const { vid } = of(typingStick)
    const all: PolicyRule[] = [{ id: 'a', effect: 'allow', level: 'host', vid }, deny]
    expect(decide(all, of(typingStick), now)).toMatchObject({ source: 'deny', ruleId: 'd' })
  })

  it('allows hubs, but not devices that claim to be hubs and have other functions', () => {
    expect(decide([], of(hub({ portPath: '1-1' })), now)).toMatchObject({ effect: 'allow', source: 'hub' })
    const d = of(hub({ portPath: '1-1' }))
    expect(decide([], { ...d, attackTool: 'suspected' }, now)).toMatchObject({ source: 'attack-tool' })
    const more = hub({ portPath: '1-1', interfaces: ['09:00:01', 'ff:ff:00'] })
    expect(decide([], of(more), now)).toMatchObject({ effect: 'block', source: 'default' })
    const two = hub({ portPath: '1-1', interfaces: ['09:00:01', '09:00:01'] })
    expect(decide([], of(two), now)).toMatchObject({ effect: 'block', source: 'default' })
  })

  describe('descriptors that hide a keyboard from a parser', () => {
    const deviceDescriptor = [18, 1, 0, 2, 0, 0, 0, 64, 0x34, 0x12, 0x78, 0x56, 0, 1, 0, 0, 0, 1]
    const part = (n: number, kind: number[]) => [9, 4, n, 0, 0, ...kind, 0]
    const keyboard = part(1, [3, 1, 1])
    const read = (first: number[], between: number[]) => {
      const body = [...first, ...between, ...keyboard]
      const length = body.length + 9
      const bytes = [...deviceDescriptor, 9, 2, length & 255, length >> 8, 2, 1, 0, 0x80, 50, ...body]
      return of({ portPath: '1-1', descriptors: Buffer.from(bytes).subarray(0, 12_288).toString('base64') })
    }
    const hubPart = part(0, [9, 0, 0])
    const repeat = (n: number, bytes: number[]) => Array.from({ length: n }, () => bytes).flat()
    it.each([
      ['nothing', []],
      ['bogus configurations', repeat(8, [9, 2, 9, 0, 0, 1, 0, 0, 0])],
      ['more interfaces than are kept', repeat(512, hubPart)],
      ['more bytes than are kept', repeat(49, [255, 0x24, ...Array<number>(253).fill(0)])],
      ['a descriptor of no length', [0, 0]],
      ['a descriptor that is longer than the rest', [200, 0x24]],
    ])('are blocked, after %s', (_what, between) => {
      expect(decide([], read(hubPart, between), now)).toMatchObject({ effect: 'block' })
      const storage: PolicyRule = { id: 'r', effect: 'allow', level: 'global', kinds: ['Mass Storage'] }
      expect(decide([storage], read(part(0, [8, 6, 0x50]), between), now)).toMatchObject({ effect: 'block' })
    })
  })

  it('is the same before and after a driver binds', () => {
    const plain = plainKeyboard({ portPath: '1-1' })
    expect(of({ ...plain, configuration: 'v1.2', reportDescriptors: ['BQEJBqEBwA=='] })).toEqual(of(plain))
    // The server stores cleaned texts and removes empty ones.
    expect(of({ ...plain, product: ` ${plain.product}\u200b `, serial: '' })).toEqual(of(plain))
  })
})

describe('hasWhitelist', () => {
  const allow: PolicyRule = { id: 'r', effect: 'allow', level: 'global', vid: '0781' }
  it('is true if a host is armed or an allow rule applies', () => {
    expect(hasWhitelist(false, [], now)).toBe(false)
    expect(hasWhitelist(true, [], now)).toBe(true)
    expect(hasWhitelist(false, [allow], now)).toBe(true)
    expect(hasWhitelist(false, [{ ...allow, effect: 'deny' }], now)).toBe(false)
    expect(hasWhitelist(false, [{ ...allow, level: 'grant' }], now)).toBe(false)
    expect(hasWhitelist(false, [{ ...allow, expiresAt: '2026-03-01T11:00:00Z' }], now)).toBe(false)
  })
})

describe('caseNumber', () => {
  it('is stable for a device on a host and has no similar letters', () => {
    const device = { vid: '0781', pid: '5581', serial: 'S1', portPath: '1-1', fingerprintWithoutRevision: 'a' }
    expect(caseNumber('agent', device)).toMatch(/^PC-[0-9ABCDEFGHJKMNPQRSTVWXYZ]{6}$/)
    expect(caseNumber('agent', { ...device, portPath: '1-2' })).toBe(caseNumber('agent', device))
    expect(caseNumber('other', device)).not.toBe(caseNumber('agent', device))
    expect(caseNumber('agent', { ...device, serial: '' })).not.toBe(
      caseNumber('agent', { ...device, serial: '', portPath: '1-2' }),
    )
  })
})
