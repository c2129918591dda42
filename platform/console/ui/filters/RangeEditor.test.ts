import { expect, it } from 'vitest'
import { rangeFault } from './RangeEditor.tsx'

it('refuses only a range that ends before it begins', () => {
  expect(rangeFault('2031-05-04T10:11', '2031-05-04T10:10')).toBe('The range ends before it begins.')
  expect(rangeFault('2031-05-04T10:11', '2031-05-04T10:11')).toBeNull()
  expect(rangeFault('', '2031-05-04T10:11')).toBeNull()
  expect(rangeFault('', '')).toBeNull()
})
