import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { groups } from './groups.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the patterns that a pattern with `{one,other}` joins. */
const alternatives = (pattern) => {
  const [, before, inner, after] = /^(.*)\{(.+)\}(.*)$/.exec(pattern) ?? []
  return inner === undefined ? [pattern] : inner.split(',').map((one) => `${before}${one}${after}`)
}

// Stryker skips a name without a file, so a renamed file would not be tested any more.
it.each(Object.entries(groups))('names existing files for %s', (_, { mutate, tests }) => {
  const missing = [...mutate, ...tests]
    .flatMap(alternatives)
    .filter((pattern) => globSync(pattern, { cwd: root }).length === 0)
  expect(missing).toEqual([])
})
