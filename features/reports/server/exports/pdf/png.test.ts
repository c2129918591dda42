import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readPng } from './png.ts'

const chunk = (kind: string, body: Buffer): Buffer => {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(body.length)
  return Buffer.concat([size, Buffer.from(kind), body, Buffer.alloc(4)])
}

interface Kind {
  depth: number
  color: number
  /** Numbers of a pixel. */
  pixel: (x: number, y: number) => readonly number[]
  isInterlaced?: boolean
  others?: readonly Buffer[]
}

const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** Packs numbers of some bits. */
const packed = (values: readonly number[], depth: number): Buffer => {
  const bits = values.map((value) => value.toString(2).padStart(depth, '0')).join('')
  return Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)))
}

/** Filters a line: its number modulo 5 is the filter. */
const filtered = (line: Buffer, before: Buffer | undefined, filter: number, step: number): Buffer =>
  Buffer.from([
    filter,
    ...line.map((value, i) => {
      const left = i >= step ? (line[i - step] as number) : 0
      const up = before?.[i] ?? 0
      const corner = i >= step ? (before?.[i - step] ?? 0) : 0
      const sum = left + up - corner
      const nearest = [left, up, corner].toSorted((a, b) => Math.abs(sum - a) - Math.abs(sum - b))[0] as number
      return (value - ([0, left, up, Math.floor((left + up) / 2), nearest][filter] as number)) & 255
    }),
  ])

const pngOf = (
  width: number,
  height: number,
  { depth, color, pixel, isInterlaced = false, others = [] }: Kind,
): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([depth, color, 0, 0, isInterlaced ? 1 : 0], 8)
  const lines: Buffer[] = []
  for (const [x0, y0, dx, dy] of isInterlaced ? passes : [[0, 0, 1, 1] as const]) {
    let before: Buffer | undefined
    for (let y = y0; y < height; y += dy) {
      const values: number[] = []
      for (let x = x0; x < width; x += dx) values.push(...pixel(x, y))
      if (values.length === 0) continue
      const line = packed(values, depth)
      const step = Math.max(1, (depth * pixel(0, 0).length) >> 3)
      lines.push(filtered(line, before, y % 5, step))
      before = line
    }
  }
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...others,
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const [width, height] = [13, 11]
const shade = (x: number, y: number): number => (x * 19 + y * 7) % 256
const palette = chunk('PLTE', Buffer.from(Array.from({ length: 48 }, (_, i) => (i * 5) % 256)))
const kinds: Record<string, { kind: Kind; rgba: (x: number, y: number) => readonly number[] }> = {
  'true colour with opacity': {
    kind: { depth: 8, color: 6, pixel: (x, y) => [shade(x, y), 10, y, x * 10] },
    rgba: (x, y) => [shade(x, y), 10, y, x * 10],
  },
  'true colour': {
    kind: { depth: 8, color: 2, pixel: (x, y) => [shade(x, y), x, y] },
    rgba: (x, y) => [shade(x, y), x, y, 255],
  },
  'true colour of 16 bits, interlaced': {
    kind: { depth: 16, color: 2, pixel: (x, y) => [shade(x, y) * 256 + 5, x * 256, y * 256], isInterlaced: true },
    rgba: (x, y) => [shade(x, y), x, y, 255],
  },
  'grey with opacity, interlaced': {
    kind: { depth: 8, color: 4, pixel: (x, y) => [shade(x, y), 200 - y], isInterlaced: true },
    rgba: (x, y) => [shade(x, y), shade(x, y), shade(x, y), 200 - y],
  },
  'grey of 2 bits': {
    kind: { depth: 2, color: 0, pixel: (x, y) => [(x + y) % 4] },
    rgba: (x, y) => [...Array.from({ length: 3 }, () => ((x + y) % 4) * 85), 255],
  },
  'a palette of 4 bits with a transparent colour': {
    kind: {
      depth: 4,
      color: 3,
      pixel: (x, y) => [(x * y) % 16],
      others: [palette, chunk('tRNS', Buffer.from([7, 0]))],
    },
    rgba: (x, y) => {
      const i = (x * y) % 16
      return [(i * 15) % 256, (i * 15 + 5) % 256, (i * 15 + 10) % 256, [7, 0][i] ?? 255]
    },
  },
}

describe('a PNG', () => {
  it.each(Object.entries(kinds))('in %s is read pixel by pixel', (_name, { kind, rgba }) => {
    const picture = readPng(pngOf(width, height, kind))
    expect([picture.width, picture.height]).toEqual([width, height])
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const at = y * width + x
        expect([...picture.rgb.subarray(at * 3, at * 3 + 3), picture.alpha[at]], `${x} ${y}`).toEqual(rgba(x, y))
      }
  })

  it('that is large becomes smaller', () => {
    const { rgb, ...picture } = readPng(pngOf(1_000, 30, { depth: 8, color: 2, pixel: () => [10, 20, 30] }))
    expect([picture.width, picture.height]).toEqual([334, 10])
    expect([...rgb.subarray(0, 6)]).toEqual([10, 20, 30, 10, 20, 30])
  })

  it('that is damaged, or unpacks to more than its size says, is refused', () => {
    const good = pngOf(10, 10, { depth: 8, color: 2, pixel: () => [1, 2, 3] })
    expect(() => readPng(good.subarray(0, 40))).toThrow()
    expect(() => readPng(Buffer.alloc(100))).toThrow()
    const bomb = Buffer.concat([
      good.subarray(0, 33),
      chunk('IDAT', deflateSync(Buffer.alloc(50_000_000))),
      chunk('IEND', Buffer.alloc(0)),
    ])
    expect(() => readPng(bomb)).toThrow()
  })
})
