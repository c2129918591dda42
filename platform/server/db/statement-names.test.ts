import { expect, it } from 'vitest'
import { compileQuery } from '../list/query.ts'
import { compile, sql } from './sql.ts'
import { createStatementNames } from './statement-names.ts'

it('names a statement from its third use, but never one that a person composed', () => {
  const nameOf = createStatementNames()
  const names = (text: string) => [nameOf(text), nameOf(text), nameOf(text)]
  expect(names('select 1')).toEqual([undefined, undefined, expect.stringMatching(/^p[0-9a-f]{24}$/)])
  const spec = {
    filters: new Map(),
    search: (needle: string) => ({ set: sql`a = ${needle}`, row: sql`b = ${needle}` }),
  }
  const { set, row } = compileQuery(spec, 'query.Query', 'one OR NOT two')
  for (const form of [set, row]) {
    const { text } = compile(form ?? sql``)
    expect(text).toMatch(/\((a|b) = \$1\) or /)
    expect(names(`select 1 where ${text}`)).toEqual([undefined, undefined, undefined])
  }
})
