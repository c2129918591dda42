import { describe, expect, it } from 'vitest'
import {
  createRegistry,
  dwordValue,
  RegistryFault,
  type RegistryKey,
  registryLimits,
  STATUS,
  textOf,
  textValue,
  VALUE_TYPES,
} from '../src/platform/windows/registry.ts'
import { createMemoryRegistry } from './registry-memory.ts'

const KEY = 'HKLM\\Software\\Portcullis\\Test' satisfies RegistryKey

const faultOf = (attempt: () => unknown): string => {
  try {
    attempt()
  } catch (error) {
    if (error instanceof RegistryFault) return error.code
    throw error
  }
  return 'none'
}

describe('registry', () => {
  it('reads back written values, ignoring case', () => {
    const { registry } = createMemoryRegistry()
    registry.writeDword(KEY, 'Number', 0xffffffff)
    registry.writeText(KEY, 'Text', 'Grüße')
    expect(registry.readDword('HKLM\\SOFTWARE\\portcullis\\TEST', 'NUMBER')).toBe(0xffffffff)
    expect(registry.readText(KEY, 'text')).toBe('Grüße')
    expect(registry.list(KEY).map(({ name }) => name)).toEqual(['Number', 'Text'])
    expect(registry.keys('HKLM\\Software')).toEqual(['Portcullis'])
    expect(registry.holds(KEY, 'Number', dwordValue(0xffffffff))).toBe(true)
    expect(registry.holds(KEY, 'Number', dwordValue(1))).toBe(false)
  })

  it('returns nothing for missing keys and values', () => {
    const { registry } = createMemoryRegistry()
    expect(registry.read(KEY, 'Number')).toBeUndefined()
    expect(registry.readText(KEY, 'Text')).toBeUndefined()
    expect(registry.list(KEY)).toEqual([])
    expect(registry.keys(KEY)).toEqual([])
    registry.remove(KEY, 'Number')
    registry.removeTree(KEY)
  })

  it.each([
    ['a text as a number', textValue('1'), 'dword'],
    ['a number as a text', dwordValue(1), 'text'],
    ['a number of three bytes', { type: VALUE_TYPES.dword, data: new Uint8Array(3) }, 'dword'],
    ['a text of an odd number of bytes', { type: VALUE_TYPES.text, data: new Uint8Array(3) }, 'text'],
    ['an unknown type', { type: 0xdead, data: new Uint8Array(4) }, 'dword'],
  ] as const)('reports %s', (_, value, as) => {
    const { registry } = createMemoryRegistry()
    registry.write(KEY, 'Value', value)
    expect(faultOf(() => (as === 'dword' ? registry.readDword(KEY, 'Value') : registry.readText(KEY, 'Value')))).toBe(
      'registry_type',
    )
  })

  it('reads texts without a NUL at the end and stops at the first NUL', () => {
    expect(textOf({ type: VALUE_TYPES.text, data: Buffer.from('open', 'utf16le') })).toBe('open')
    expect(textOf({ type: VALUE_TYPES.expandable, data: Buffer.from('a\0b\0', 'utf16le') })).toBe('a')
    expect(textOf({ type: VALUE_TYPES.text, data: new Uint8Array() })).toBe('')
  })

  it('distinguishes a refusal from a missing value', () => {
    const { registry, refuse, allow } = createMemoryRegistry()
    registry.writeDword(KEY, 'Number', 1)
    refuse('HKLM\\Software\\Portcullis', ['query', 'values', 'set', 'remove', 'removeTree', 'keys', 'flush'])
    for (const attempt of [
      () => registry.read(KEY, 'Number'),
      () => registry.list(KEY),
      () => registry.keys(KEY),
      () => registry.writeDword(KEY, 'Number', 2),
      () => registry.remove(KEY, 'Number'),
      () => registry.removeTree(KEY),
      () => registry.flush(KEY),
    ])
      expect(faultOf(attempt)).toBe('registry_denied')
    expect(registry.holds(KEY, 'Number', dwordValue(1))).toBe(false)
    allow()
    expect(registry.readDword(KEY, 'Number')).toBe(1)
  })

  it('reports other errors with their number, and values beyond its limits', () => {
    const { registry, refuse } = createMemoryRegistry()
    refuse(KEY, ['query'], 1450)
    refuse(KEY, ['values'], STATUS.moreData)
    expect(() => registry.read(KEY, 'Number')).toThrow('Windows returned error 1450 for HKLM\\Software\\Portcullis')
    expect(faultOf(() => registry.list(KEY))).toBe('registry_too_large')
    const large = { type: VALUE_TYPES.binary, data: new Uint8Array(registryLimits.valueBytes + 1) }
    expect(faultOf(() => registry.write(KEY, 'Large', large))).toBe('registry_too_large')
  })

  it('refuses names that Windows would cut or resolve differently', () => {
    const { raw } = createMemoryRegistry()
    const registry = createRegistry(raw)
    for (const key of [
      'HKLM\\',
      'HKLM\\a\\\\b',
      'HKLM\\a\0b',
      `HKLM\\${'a'.repeat(256)}`,
      `HKLM${'\\a'.repeat(40)}`,
      'HKXX\\a',
    ])
      expect([key, faultOf(() => registry.read(key as RegistryKey, 'x'))]).toEqual([key, 'registry_name'])
    expect(faultOf(() => registry.remove(KEY, 'a\0b'))).toBe('registry_name')
    expect(faultOf(() => registry.removeTree('HKLM\\Software'))).toBe('registry_name')
  })

  it('removes a key with everything below it, and no other key', () => {
    const { registry, dump } = createMemoryRegistry()
    registry.writeDword(KEY, 'Number', 1)
    registry.writeText(`${KEY}\\Below`, '1', 'a')
    registry.writeText(`${KEY}2`, 'Beside', 'b')
    registry.removeTree(KEY)
    expect(Object.keys(dump())).toEqual(['hklm\\software\\portcullis\\test2\\Beside'])
  })

  it('detects a value that another program changed back, and one that reads differently', () => {
    const { registry, onChange, lie } = createMemoryRegistry()
    onChange((key, name) => {
      if (name === 'Number') registry.writeDword(key, 'Number', 7)
    })
    registry.writeDword(KEY, 'Number', 1)
    expect(registry.holds(KEY, 'Number', dwordValue(1))).toBe(false)
    expect(registry.readDword(KEY, 'Number')).toBe(7)
    lie(KEY, 'Other', dwordValue(3))
    registry.writeDword(KEY, 'Other', 1)
    expect(registry.readDword(KEY, 'Other')).toBe(3)
  })
})
