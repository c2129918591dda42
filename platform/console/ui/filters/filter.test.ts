import { describe, expect, it } from 'vitest'
import { type Filter, fieldOfInstant, filterText, instantOfField, toggled } from './filter.ts'

const choice: Filter = {
  name: 'Severity',
  label: 'Finding',
  kind: 'choice',
  options: [
    { value: '30', label: 'Vulnerable' },
    { value: 'Armed', label: 'Armed' },
  ],
}

describe('filterText', () => {
  it.each<[Filter, string, string]>([
    [choice, '30,armed', 'Vulnerable or Armed'],
    [choice, 'odd', 'odd'],
    [{ name: 'x', label: 'X', kind: 'yesNo' }, 'True', 'Yes'],
    [{ name: 'x', label: 'X', kind: 'tags' }, 'a,b', 'a or b'],
    [{ name: 'x', label: 'X', kind: 'text' }, 'abc', '“abc”'],
    [{ name: 'x', label: 'X', kind: 'instant' }, '2031-05-04T10:11Z', '2031-05-04 10:11 UTC'],
    [{ name: 'x', label: 'X', kind: 'instant' }, '2031-05-04T10:11:12.345Z', '2031-05-04 10:11 UTC'],
    [{ name: 'x', label: 'X', kind: 'period' }, '2031-05-04T10:11Z..', 'since 2031-05-04 10:11 UTC'],
    [{ name: 'x', label: 'X', kind: 'period' }, '..2031-05-04', 'until 2031-05-04'],
  ])('%o of %s is %s', (filter, value, text) => expect(filterText(filter, value)).toBe(text))
})

describe('comma lists', () => {
  it('adds and removes values, and is null when empty', () => {
    expect(toggled(undefined, 'a')).toBe('a')
    expect(toggled('a', 'b')).toBe('a,b')
    expect(toggled('a,b', 'a')).toBe('b')
    expect(toggled('a', 'a')).toBeNull()
  })
})

describe('date fields', () => {
  it('keep the instant in any time zone', () => {
    for (const instant of ['2031-05-04T10:11Z', '2031-12-31T23:59Z']) {
      expect(instantOfField(fieldOfInstant(instant))).toBe(instant)
    }
    expect([instantOfField(''), fieldOfInstant('nonsense')]).toEqual([null, ''])
  })
})
