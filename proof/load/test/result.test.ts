import { expect, it } from 'vitest'
import { atMost, type Finding, figure } from '../../kit/verdict.ts'
import { benchResult, ratioOf } from '../result.ts'

const fast = atMost('p50', 4, 5, 'ms')
const slow = { ...fast, value: 6 }
const plain = figure('size', 4, 'MB')
const verdictOf = (findings: Finding[], notRun: string[] = []) =>
  benchResult('list', { what: 'conditions', findings, notRun }, { seconds: 1, seed: 1 }).verdict

it('evaluates a benchmark by its limits', () => {
  expect(verdictOf([fast, plain])).toBe('passed')
  expect(verdictOf([fast, slow])).toBe('missed')
  expect(verdictOf([plain])).toBe('measured')
  expect(verdictOf([fast], ['Chromium is missing.'])).toBe('incomplete')
  expect(verdictOf([], ['list: not finished'])).toBe('incomplete')
})

it('counts a figure that is not a number as missed', () => {
  const none = { ...fast, value: Number.NaN }
  expect([verdictOf([none]), ratioOf(none)]).toEqual(['missed', 0])
})

it('is incomplete if an informational figure has no number', () => {
  const none = { ...plain, value: Number.NaN }
  expect([verdictOf([none]), verdictOf([fast, none])]).toEqual(['incomplete', 'incomplete'])
})

it('counts zero as met if less is better', () => {
  expect(ratioOf({ ...fast, value: 0 })).toBe(Number.POSITIVE_INFINITY)
  expect(verdictOf([{ ...fast, value: 0 }])).toBe('passed')
})
