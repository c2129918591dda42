import { expect, it } from 'vitest'
import { createBytes } from './bytes.ts'

it('writes numbers as their shortest decimal form', () => {
  const bytes = createBytes()
  for (let value = -12_345; value <= 12_345; value++) {
    bytes.hundredths(value)
    expect(bytes.take().toString('latin1')).toBe(String(value / 100))
  }
  bytes.hundredths(123_456_789)
  expect(bytes.take().toString('latin1')).toBe('1234567.89')
})

it('escapes the bytes of glyphs that end a literal string or a line', () => {
  const ids = new Uint16Array(128)
  // Glyphs whose high or low byte is a parenthesis, a backslash, a line feed or a carriage return.
  ;[0x0028, 0x2900, 0x5c5c, 0x0a0d, 0x0041, 0x01ff].forEach((id, i) => {
    ids[65 + i] = id
  })
  const bytes = createBytes()
  bytes.glyphs('ABCDEF', ids)
  expect(bytes.take().toString('latin1')).toBe('(\0\\(\\)\0\\\\\\\\\\n\\r\0A\x01\xff)')
})

it('keeps its contents when it grows', () => {
  const bytes = createBytes()
  const long = 'x'.repeat(100_000)
  bytes.text('a')
  bytes.text(long)
  bytes.text('b')
  expect(bytes.take().toString('latin1')).toBe(`a${long}b`)
  expect(bytes.take()).toHaveLength(0)
})
