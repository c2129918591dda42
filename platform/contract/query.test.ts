import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultText, parseQuery, type QueryTree, termsOf } from './query.ts'

const filter = (name: string, value: string): QueryTree => ({ kind: 'filter', name, value, at: 0 })
const search = (value: string): QueryTree => ({ kind: 'search', value, at: 0 })

/** Returns a tree without positions, with nested groups of the same kind merged. */
const bare = (tree: QueryTree): unknown => {
  if (tree.kind === 'not') return { not: bare(tree.of) }
  if ('of' in tree) return { [tree.kind]: tree.of.map(bare) }
  return tree.kind === 'filter' ? `${tree.name}:${tree.value}` : tree.value
}
const parsed = (text: string) => {
  const result = parseQuery(text)
  return 'tree' in result ? bare(result.tree) : faultText(result.fault)
}

describe('the text form of a query', () => {
  it.each<[string, unknown]>([
    ['kiosk', 'kiosk'],
    ['Status:Armed', 'Status:Armed'],
    ['Status:Armed,Free Severity:>=30', { and: ['Status:Armed,Free', 'Severity:>=30'] }],
    ['firstSeen:2031-05-04T10:00..', 'firstSeen:2031-05-04T10:00..'],
    ['a OR b AND c', { or: ['a', { and: ['b', 'c'] }] }],
    ['(a or b) and not c', { and: [{ or: ['a', 'b'] }, { not: 'c' }] }],
    ['NOT a b', { and: [{ not: 'a' }, 'b'] }],
    ['NOT(a)OR(b)', { or: [{ not: 'a' }, 'b'] }],
    ['"and" OR "not (x)"', { or: ['and', 'not (x)'] }],
    ['Hashtags:"front desk,lab"', 'Hashtags:front desk,lab'],
    [String.raw`Owner:"a \"b\" \\"`, String.raw`Owner:a "b" \ `.trim()],
    ['046d:c52b OR 2001:db8::1', { or: ['046d:c52b', '2001:db8::1'] }],
    ["'; drop table agents; --", { and: ["';", 'drop', 'table', 'agents;', '--'] }],
  ])('reads %s', (text, tree) => expect(parsed(text)).toEqual(tree))

  it.each([
    ['', 'at character 1: the query must contain a filter or a word'],
    ['a AND', 'at character 6: a filter or a word must follow AND'],
    ['OR a', 'at character 1: a filter or a word must come before OR'],
    ['a OR OR b', 'at character 6: a filter or a word must follow OR'],
    ['NOT', 'at character 4: a filter or a word must follow NOT'],
    ['()', 'at character 2: a filter or a word must follow ('],
    ['(a', 'at character 1: the parenthesis is not closed'],
    ['a)', 'at character 2: no opening parenthesis matches this one'],
    ['Status: Armed', 'at character 8: a value must follow Status: without a space'],
    ['Status:', 'at character 8: a value must follow Status: without a space'],
    ['Status:""', 'at character 8: the quotes must contain text'],
    ['Status:Armed, Free', 'at character 14: a list with spaces must be in quotes'],
    ['Owner:"a', 'at character 7: the quotes are not closed'],
    ['Owner:"a"b', 'at character 10: a space must follow the quotes'],
    ['Owner:a(b)', 'at character 8: text with parentheses must be in quotes'],
    ['Owner:a"b', 'at character 8: text with quotes must be in quotes'],
    [String.raw`"a\b"`, String.raw`at character 3: a backslash in quotes must be written as \\`],
    [`${'('.repeat(9)}a${')'.repeat(9)}`, 'at character 10: parentheses and NOT can be nested at most 8 times'],
    ['a '.repeat(51), 'at character 101: a query can have at most 50 terms'],
    ['a'.repeat(2_001), 'at character 2001: a query can have at most 2000 characters'],
  ])('says where %s is wrong', (text, fault) => expect(parsed(text)).toBe(fault))

  it('accepts a query at each limit', () => {
    expect(parseQuery(`${'NOT '.repeat(7)}(a)`)).toHaveProperty('tree')
    expect(parseQuery('a '.repeat(50))).toHaveProperty('tree')
    expect(parseQuery('a'.repeat(2_000))).toHaveProperty('tree')
  })

  // A naive model: conditions about the letters of a word, evaluated by the grammar and by the tree.
  const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
  const leaf = fc.oneof(
    fc
      .string({ minLength: 1, maxLength: 6 })
      .filter((text) => text.trim() !== '')
      .map(search),
    fc
      .tuple(
        fc.constantFrom('Has', 'lacks'),
        fc.string({ minLength: 1, maxLength: 3 }).filter((t) => t.trim() !== ''),
      )
      .map(([name, value]) => filter(name, value)),
  )
  const { tree } = fc.letrec<{ tree: QueryTree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      tie('tree').map((of): QueryTree => ({ kind: 'not', of })),
      fc
        .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(tie('tree'), { minLength: 2, maxLength: 3 }))
        .map(([kind, of]): QueryTree => ({ kind, of })),
    ),
  }))
  const write = (one: QueryTree): string => {
    if (one.kind === 'filter') return `${one.name}:${quote(one.value)}`
    if (one.kind === 'search') return quote(one.value)
    if (one.kind === 'not') return `NOT (${write(one.of)})`
    return one.of
      .map((part) => (part.kind === 'filter' ? write(part) : `(${write(part)})`))
      .join(one.kind === 'or' ? ' OR ' : ' ')
  }
  const holds = (one: QueryTree, word: string): boolean => {
    if (one.kind === 'not') return !holds(one.of, word)
    if (one.kind === 'and') return one.of.every((part) => holds(part, word))
    if (one.kind === 'or') return one.of.some((part) => holds(part, word))
    if (one.kind === 'filter') return word.includes(one.value) !== (one.name === 'lacks')
    return one.kind === 'search' && word.includes(one.value)
  }

  it('evaluates like the tree that it was written from', () => {
    fc.assert(
      fc.property(tree, fc.string({ maxLength: 8 }), (given, word) => {
        const result = parseQuery(write(given))
        // Deep trees can exceed a limit.
        if ('fault' in result) return / at most /.test(result.fault.message)
        return holds(result.tree, word) === holds(given, word) && termsOf(result.tree).length === termsOf(given).length
      }),
    )
  })

  it('returns a tree, or a fault within the text, for any text', () => {
    const parts = fc.constantFrom(
      '(',
      ')',
      '"',
      '\\',
      ' ',
      'AND',
      'or',
      'NOT ',
      'a',
      'Status:',
      ',',
      ':',
      '\u0000',
      '😀',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(parts, { maxLength: 30 }).map((all) => all.join('')),
        ),
        (text) => {
          const result = parseQuery(text)
          return 'tree' in result || (result.fault.at >= 0 && result.fault.at <= text.length)
        },
      ),
    )
  })
})
