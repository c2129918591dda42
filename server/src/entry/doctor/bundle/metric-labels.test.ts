import { expect, it } from 'vitest'
import { scrubbedLabels } from './metric-labels.ts'

it('scrubs the values of labels as a whole, also with quotes in them', () => {
  const text = `${String.raw`a{host="dc-01",name="say \"hello\" twice \\"} 1`}\nb{c=""} 2\n# HELP d it's "so\n`
  expect(scrubbedLabels(text, () => '"-"')).toBe('a{host="-",name="-"} 1\nb{c="-"} 2\n# HELP d it\'s "so\n')
})
