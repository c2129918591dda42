import { describe, expect, it } from 'vitest'
import { stripElf } from './strip-elf.mjs'

/** Builds a program with one segment, a loaded section, and the sections that compilers add. */
function program({ loaded = [true, false], loadedBytes = 'code' } = {}) {
  const names = Buffer.from('\0.text\0.symtab\0.shstrtab\0')
  const [code, symbols] = [Buffer.from(loadedBytes.padEnd(16)), Buffer.alloc(4000, 's')]
  const at = { code: 120, symbols: 136, names: 4136, table: 4136 + names.length }
  const header = Buffer.alloc(64)
  header.writeUIntBE(0x7f454c460201, 0, 6)
  header.writeUInt16LE(62, 18)
  header.writeBigUInt64LE(64n, 32)
  header.writeBigUInt64LE(BigInt(at.table), 40)
  for (const [place, value] of [
    [54, 56],
    [56, 1],
    [58, 64],
    [60, 4],
    [62, 3],
  ])
    header.writeUInt16LE(value, place)
  const segment = Buffer.alloc(56)
  segment.writeBigUInt64LE(136n, 32)
  const section = (name, flags, offset, size) => {
    const one = Buffer.alloc(64)
    one.writeUInt32LE(name, 0)
    one.writeBigUInt64LE(flags, 8)
    one.writeBigUInt64LE(BigInt(offset), 24)
    one.writeBigUInt64LE(BigInt(size), 32)
    return one
  }
  const flags = (i) => (loaded[i] ? 2n : 0n)
  const table = [
    Buffer.alloc(64),
    section(1, flags(0), at.code, code.length),
    section(7, flags(1), at.symbols, symbols.length),
    section(15, 0n, at.names, names.length),
  ]
  return Buffer.concat([header, segment, code, symbols, names, ...table])
}

const sectionsOf = (elf) => {
  const [start, count, names] = [Number(elf.readBigUInt64LE(40)), elf.readUInt16LE(60), elf.readUInt16LE(62)]
  const all = Array.from({ length: count }, (_, i) => {
    const at = start + i * 64
    const offset = Number(elf.readBigUInt64LE(at + 24))
    return { name: elf.readUInt32LE(at), bytes: elf.subarray(offset, offset + Number(elf.readBigUInt64LE(at + 32))) }
  })
  const text = all[names]?.bytes.toString('latin1') ?? ''
  return all.map(({ name, bytes }) => [text.slice(name, text.indexOf('\0', name)), bytes.toString().trim()])
}

describe('stripElf', () => {
  it('removes symbols, and keeps loaded sections and their places', () => {
    const elf = program()
    const small = stripElf(elf)
    expect(sectionsOf(elf).map(([name]) => name)).toEqual(['', '.text', '.symtab', '.shstrtab'])
    expect(sectionsOf(small).slice(0, 2)).toEqual([
      ['', ''],
      ['.text', 'code'],
    ])
    expect(sectionsOf(small).map(([name]) => name)).toEqual(['', '.text', '.shstrtab'])
    expect(small.subarray(64, 136)).toEqual(elf.subarray(64, 136))
    expect(small.length).toBeLessThan(600)
    expect(stripElf(small)).toEqual(small)
  })

  it('refuses other files, and programs that it would damage', () => {
    expect(() => stripElf(Buffer.from('#!/bin/sh\n'))).toThrow('not a 64-bit')
    expect(() => stripElf(program().subarray(0, 2000))).toThrow('no section headers')
    expect(() => stripElf(program({ loaded: [false, true] }))).toThrow('unknown order')
    expect(() => stripElf(program({ loaded: [false, false] }))).toThrow('unknown order')
    // A segment that contains the symbols.
    const wide = program()
    wide.writeBigUInt64LE(5000n, 64 + 32)
    expect(() => stripElf(wide)).toThrow('unknown order')
  })
})
