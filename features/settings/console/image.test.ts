import { expect, it } from 'vitest'
import { dataUriOf, imageFault } from './image.ts'

/** Returns the beginning of a PNG of this size, padded to a number of bytes. */
const png = (width: number, height: number, bytes = 64) => {
  const data = new Uint8Array(bytes)
  data.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  const view = new DataView(data.buffer)
  view.setUint32(16, width)
  view.setUint32(20, height)
  return data
}

it('accepts a PNG up to the limits and explains a refusal', () => {
  expect(imageFault(png(2_000, 2_000, 256 * 1024))).toBeNull()
  expect(imageFault(png(2_001, 10))).toContain('2,001 by 10 pixels')
  expect(imageFault(png(0, 10))).not.toBeNull()
  expect(imageFault(png(10, 10, 256 * 1024 + 1))).toContain('257 KiB')
})

it.each([
  ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'],
  ['nothing', ''],
  ['a GIF', 'GIF89a'.padEnd(64)],
])('refuses %s', (_what, text) => {
  expect(imageFault(new TextEncoder().encode(text))).toContain('not a PNG')
})

it('encodes all bytes in the data URI', () => {
  const bytes = png(1, 1, 20_000)
  expect(Buffer.from(dataUriOf(bytes).slice('data:image/png;base64,'.length), 'base64').equals(bytes)).toBe(true)
})
