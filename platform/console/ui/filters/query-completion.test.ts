import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../../contract/query.ts'
import { completionsOf, exampleOf } from './query-completion.ts'

const filters = [
  {
    name: 'Status',
    label: 'Status',
    kind: 'enum',
    values: ['Armed', 'Free', 'Not seen'],
    labels: { Free: 'Monitoring' },
  },
  { name: 'Hashtags', label: 'Tags', kind: 'tags', values: [], labels: {} },
  { name: 'CanBlock', label: 'Can block', kind: 'boolean', values: [], labels: {} },
] as const
const texts = (text: string) => completionsOf(text, filters).map((one) => one.text)

describe('completions of a query', () => {
  it('completes filter names by name or label', () => {
    expect(completionsOf('a AND NOT (tag', filters)).toEqual([
      { text: 'a AND NOT (Hashtags:', added: 'Hashtags:', label: 'Tags' },
    ])
    expect(texts('sta')).toEqual(['Status:'])
    expect(texts('"a b" can')).toEqual(['"a b" CanBlock:'])
  })
  it('completes values, including those in a list, by value or label', () => {
    expect(texts('a OR status:')).toEqual(['a OR status:Armed', 'a OR status:Free', 'a OR status:"Not seen"'])
    expect(texts('Status:monit')).toEqual(['Status:Free'])
    expect(texts('Status:Armed,f')).toEqual(['Status:Armed,Free'])
    expect(texts('CanBlock:t')).toEqual(['CanBlock:true'])
  })
  it.each(['', 'a ', 'and', '"sta', 'Status:Free', 'Hashtags:x', 'Nope:sta', 'a)', '"a" OR', 'a:b:c'])(
    'offers nothing for %j',
    (text) => expect(texts(text)).toEqual([]),
  )
  it('gives an example that parses', () => {
    expect(exampleOf(filters)).toBe('Status:Armed AND NOT ("two words" OR word)')
    expect(parseQuery(exampleOf([]))).toHaveProperty('tree')
  })
})
