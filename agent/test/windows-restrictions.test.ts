import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOwned, saveBefore } from '../src/platform/windows/enforcement/restriction-backup.ts'
import { OWN_KEY, RESTRICTIONS } from '../src/platform/windows/enforcement/restriction-keys.ts'
import {
  foreignRestriction,
  holdsRestrictions,
  MAX_ALLOWED,
  restoreBefore,
  writeRestrictions,
} from '../src/platform/windows/enforcement/restrictions.ts'
import { type RegistryKey, type RegistryValue, textOf, textValue } from '../src/platform/windows/registry.ts'
import { createMemoryRegistry } from './registry-memory.ts'

const listKey = (name: string): RegistryKey => `${RESTRICTIONS}\\${name}`
const dword = (value: number): RegistryValue => ({ type: 4, data: Uint8Array.from([value, 0, 0, 0]) })

/** Returns all keys and values, including empty keys. */
const everything = ({ raw, dump }: ReturnType<typeof createMemoryRegistry>): unknown => {
  const keys = (key: RegistryKey): string[] => [
    key,
    ...raw.keys(key).names.flatMap((name) => keys(`${key}\\${name}` as RegistryKey)),
  ]
  return {
    keys: keys('HKLM\\Software')
      .map((key) => key.toLowerCase())
      .sort(),
    values: dump(),
  }
}

const apply = (memory: ReturnType<typeof createMemoryRegistry>, allowed: string[], denied: string[] = []): void => {
  saveBefore(memory.registry)
  writeRestrictions(memory.registry, { allowed, denied })
}

const id = fc.stringMatching(/^USB\\VID_046D&PID_C30A\\[A-D]{1,2}$/)
const ids = fc.uniqueArray(id, { maxLength: 12 })
/** Existing values without an effect, which the agent saves. */
const idle = fc.record({
  switches: fc.dictionary(
    fc.constantFrom(
      'AllowDenyLayered',
      'DenyRemovableDevices',
      'AllowInstanceIDs',
      'DenyUnspecified',
      'AllowDeviceIDs',
    ),
    fc.constant(dword(0)),
  ),
  lists: fc.dictionary(
    fc.constantFrom('AllowInstanceIDs', 'AllowDeviceIDs', 'DenyInstanceIDs', 'DenyDeviceIDs'),
    fc.dictionary(
      fc.constantFrom('1', '2', '7', 'note'),
      fc.oneof(id.map(textValue), fc.constant(dword(5)), fc.constant({ type: 3, data: Uint8Array.from([1, 2, 3]) })),
    ),
  ),
})

const withIdle = ({ switches, lists }: typeof idle extends fc.Arbitrary<infer T> ? T : never) => {
  const memory = createMemoryRegistry()
  // This key exists on every Windows.
  memory.registry.writeText('HKLM\\Software\\Policies\\Microsoft\\Windows', 'Name', 'kept')
  for (const [name, value] of Object.entries(switches)) memory.registry.write(RESTRICTIONS, name, value)
  for (const [list, values] of Object.entries(lists))
    for (const [name, value] of Object.entries(values)) memory.registry.write(listKey(list), name, value)
  return memory
}

describe('the restrictions of Windows', () => {
  it('deny all classes except hubs by default, and allow hubs and the listed instances', () => {
    const memory = createMemoryRegistry()
    apply(memory, ['USB\\VID_046D&PID_C30A\\A'])
    const { registry } = memory
    const list = (name: string) => registry.list(listKey(name)).map((value) => `${value.name}=${textOf(value)}`)
    expect(registry.list(RESTRICTIONS).map((value) => `${value.name}=${value.data[0]}`)).toEqual([
      'AllowDeviceIDs=1',
      'AllowInstanceIDs=1',
      'AllowDenyLayered=1',
      'DenyDeviceIDs=1',
      'DenyRemovableDevices=1',
    ])
    const classes = registry.list(listKey('DenyDeviceIDs')).map((value) => textOf(value))
    expect(classes).toHaveLength(258)
    expect(classes).toEqual(expect.arrayContaining(['USB\\COMPOSITE', 'USB\\Class_03', 'USB\\Class_FF']))
    expect(classes).not.toContain('USB\\Class_09')
    expect(list('AllowDeviceIDs')).toEqual([
      '1=USB\\Class_09',
      '2=USB\\USB20_HUB',
      '3=USB\\USB30_HUB',
      '4=PORTCULLIS\\MANAGED',
    ])
    expect(list('AllowInstanceIDs')).toEqual(['1=USB\\VID_046D&PID_C30A\\A'])
    expect(list('DenyInstanceIDs')).toEqual([])
  })

  it('hold exactly the wanted devices after any changes, without gaps, and nothing is left after a restore', () => {
    fc.assert(
      fc.property(idle, fc.array(fc.tuple(ids, ids), { minLength: 1, maxLength: 5 }), (others, steps) => {
        const memory = withIdle(others)
        const before = everything(memory)
        for (const [allowed, denied] of steps) {
          apply(memory, allowed, denied)
          expect(holdsRestrictions(memory.registry, { allowed, denied })).toBe(true)
          for (const [name, wanted] of [
            ['AllowInstanceIDs', allowed],
            ['DenyInstanceIDs', denied],
          ] as const) {
            const found = memory.registry.list(listKey(name))
            expect(found.map((value) => textOf(value)).sort()).toEqual([...wanted].sort())
            expect(found.map((value) => Number(value.name)).sort((a, b) => a - b)).toEqual(wanted.map((_, i) => i + 1))
            const idleSwitch = Object.hasOwn(others.switches, name) ? 0 : undefined
            expect(memory.registry.readDword(RESTRICTIONS, name)).toBe(wanted.length > 0 ? 1 : idleSwitch)
          }
        }
        restoreBefore(memory.registry)
        expect(everything(memory)).toEqual(before)
      }),
    )
  })

  it('lose no allowed device at any moment of a change', () => {
    fc.assert(
      fc.property(ids, ids, (first, second) => {
        const memory = createMemoryRegistry()
        apply(memory, first)
        const stays = first.filter((one) => second.includes(one))
        memory.onChange(() => {
          const now = memory.registry.list(listKey('AllowInstanceIDs')).map((value) => textOf(value))
          for (const one of stays) expect(now).toContain(one)
        })
        apply(memory, second)
      }),
    )
  })

  it('are restored from any moment at which the agent was killed', () => {
    fc.assert(
      fc.property(idle, ids, fc.nat({ max: 60 }), fc.nat({ max: 60 }), (others, allowed, first, second) => {
        const memory = withIdle(others)
        const before = everything(memory)
        const killAfter = (calls: number, work: () => void) => {
          let left = calls
          memory.onChange(() => {
            if (left-- === 0) throw new Error('killed')
          })
          try {
            work()
          } catch (error) {
            if (!String(error).includes('killed')) throw error
          }
          memory.onChange(undefined)
        }
        killAfter(first, () => apply(memory, allowed))
        killAfter(second, () => restoreBefore(memory.registry))
        restoreBefore(memory.registry)
        expect(isOwned(memory.registry)).toBe(false)
        expect(everything(memory)).toEqual(before)
      }),
      { numRuns: 300 },
    )
  })

  it('are recognised without the saved values, and removed', () => {
    const memory = withIdle({ switches: {}, lists: {} })
    const before = everything(memory)
    apply(memory, ['USB\\VID_046D&PID_C30A\\A'])
    memory.registry.removeTree(OWN_KEY)
    expect(isOwned(memory.registry)).toBe(true)
    expect(foreignRestriction(memory.registry)).toBeUndefined()
    apply(memory, [])
    restoreBefore(memory.registry)
    expect(everything(memory)).toEqual(before)
  })

  it('never write outside their own keys, whatever the saved values contain', () => {
    const memory = createMemoryRegistry()
    apply(memory, [])
    memory.registry.writeText(
      OWN_KEY,
      'Before',
      JSON.stringify({ missing: [], values: [{ key: 'HKLM\\Software\\Other', name: 'Run', type: 1, data: '6100' }] }),
    )
    restoreBefore(memory.registry)
    expect(memory.registry.read('HKLM\\Software\\Other', 'Run')).toBeUndefined()
    expect(isOwned(memory.registry)).toBe(false)
  })

  it('are refused if there are too many devices or existing values', () => {
    const memory = createMemoryRegistry()
    const many = Array.from({ length: MAX_ALLOWED + 1 }, (_, i) => `USB\\VID_046D&PID_C30A\\${i}`)
    expect(() => apply(memory, many)).toThrow(`${MAX_ALLOWED} allowed`)
    const crowded = createMemoryRegistry()
    for (let i = 0; i < 300; i++) crowded.registry.writeText(listKey('AllowInstanceIDs'), `n${i}`, 'x')
    expect(() => apply(crowded, [])).toThrow('256 values that the agent did not set')
    expect(isOwned(crowded.registry)).toBe(false)
  })

  it('report a write that Windows confirms without keeping it', () => {
    const memory = createMemoryRegistry()
    saveBefore(memory.registry)
    memory.lie(RESTRICTIONS, 'DenyRemovableDevices', undefined)
    expect(() => writeRestrictions(memory.registry, { allowed: [], denied: [] })).toThrow('did not keep')
  })
})

describe('restrictions that the agent did not set', () => {
  const reason = (write: (memory: ReturnType<typeof createMemoryRegistry>['registry']) => void) => {
    const memory = createMemoryRegistry()
    write(memory.registry)
    return foreignRestriction(memory.registry)
  }

  it.each([
    ['a switch that is on', 'DenyDeviceIDs', dword(1)],
    ['the retroactive switch', 'DenyDeviceIDsRetroactive', dword(1)],
    ['a value of the agent that it did not write', 'DenyRemovableDevices', dword(1)],
    ['a value of another type', 'AllowDenyLayered', textValue('0')],
    ['an unknown value', 'DenyEverything', dword(2)],
  ])('are named with value and key: %s', (_, name, value) => {
    const text = reason((registry) => registry.write(RESTRICTIONS, name, value))
    expect(text).toContain(`"${name}" of ${RESTRICTIONS}`)
    expect(text).toContain('Group Policy')
  })

  it('are found while the host is armed, but not in the values of the agent', () => {
    const memory = createMemoryRegistry()
    apply(memory, ['USB\\VID_046D&PID_C30A\\A'])
    expect(foreignRestriction(memory.registry)).toBeUndefined()
    memory.registry.writeDword(RESTRICTIONS, 'DenyDeviceClasses', 1)
    expect(foreignRestriction(memory.registry)).toContain('DenyDeviceClasses')
  })

  it('do not include values without an effect', () => {
    expect(
      reason((registry) => {
        registry.writeDword(RESTRICTIONS, 'DenyUnspecified', 0)
        registry.writeText(listKey('DenyDeviceIDs'), '1', 'USB\\Class_08')
      }),
    ).toBeUndefined()
  })

  it('include those of an MDM', () => {
    const key = 'HKLM\\Software\\Microsoft\\PolicyManager\\current\\device\\DeviceInstallation'
    const value = 'PreventInstallationOfMatchingDeviceIDs'
    expect(reason((registry) => registry.writeText(key, value, '<enabled/>'))).toContain(value)
    expect(reason((registry) => registry.writeDword(key, `${value}_ProviderSet`, 1))).toBeUndefined()
  })
})
