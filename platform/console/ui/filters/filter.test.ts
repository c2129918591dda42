import { describe, expect, it } from 'vitest'
import { type Filter, fieldOfInstant, filterText, instantOfField, toggled } from './filter.ts'

const filter = (kind: Filter['kind']): Filter => ({
  name: 'x',
  label: 'X',
  kind,
  values: ['30', 'Armed'],
  labels: { 30: 'Vulnerable' },
  isSingle: false,
  maxLength: 256,
})

describe('filterText', () => {
  it.each<[Filter['kind'], string, string]>([
    ['enum', '30,armed', 'Vulnerable or Armed'],
    ['enum', 'odd', 'odd'],
    ['boolean', 'True', 'Yes'],
    ['tags', 'a,b', 'a or b'],
    ['text', 'abc', '“abc”'],
    ['instant', '2031-05-04T10:11Z', '2031-05-04 10:11 UTC'],
    ['instant', '2031-05-04T10:11:12.345Z', '2031-05-04 10:11 UTC'],
    ['time', '2031-05-04T10:11Z..', 'since 2031-05-04 10:11 UTC'],
    ['time', '..2031-05-04', 'until 2031-05-04'],
    ['time', '2031-05-04..2031-05-06', '2031-05-04 to 2031-05-06'],
  ])('%s of %s is %s', (kind, value, text) => expect(filterText(filter(kind), value)).toBe(text))
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
