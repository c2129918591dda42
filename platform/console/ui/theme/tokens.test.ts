import { describe, expect, it } from 'vitest'
import { contrast } from './contrast.ts'
import { dark, light, type SchemeTokens } from './tokens.ts'

const grounds = ['ground', 'surface', 'raised', 'sunken'] as const

const textPairs = (tokens: SchemeTokens): [string, string, string][] => [
  ...grounds.flatMap((ground): [string, string, string][] => [
    [`ink on ${ground}`, tokens.ink, tokens[ground]],
    [`muted on ${ground}`, tokens.muted, tokens[ground]],
    [`accent on ${ground}`, tokens.accent, tokens[ground]],
    ...Object.entries(tokens.severity).map(([name, pair]): [string, string, string] => [
      `${name} on ${ground}`,
      pair.ink,
      tokens[ground],
    ]),
  ]),
  ...Object.entries(tokens.severity).flatMap(([name, pair]): [string, string, string][] => [
    [`${name} on its soft ground`, pair.ink, pair.soft],
    [`ink on soft ${name}`, tokens.ink, pair.soft],
  ]),
  ['ink on accentSoft', tokens.ink, tokens.accentSoft],
  ['muted on accentSoft', tokens.muted, tokens.accentSoft],
  ['accent on accentSoft', tokens.accent, tokens.accentSoft],
  ['onAccent on accent', tokens.onAccent, tokens.accent],
  ['onAccent on accentHover', tokens.onAccent, tokens.accentHover],
]

describe.each([
  ['light', light],
  ['dark', dark],
])('colours of the %s scheme', (_name, tokens) => {
  it.each(textPairs(tokens))('%s has a contrast of 4.5:1', (_pair, ink, ground) => {
    expect(contrast(ink, ground)).toBeGreaterThanOrEqual(4.5)
  })

  it.each(grounds)('the edge of a control has a contrast of 3:1 on %s', (ground) => {
    expect(contrast(tokens.edge, tokens[ground])).toBeGreaterThanOrEqual(3)
  })
})

describe('contrast', () => {
  it('returns known ratios', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  })
})
