import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { groups } from './groups.mjs'

const { tests, needsDatabase = false } = groups[process.env.MUTATION_GROUP]
/** The mutated copy of the checkout. The links in node_modules lead to the checkout itself. */
const root = process.cwd()

/** Returns the modules that a package of the copy exports. */
const exportsOf = (name) =>
  Object.entries(JSON.parse(readFileSync(`${root}/${name}/package.json`, 'utf8')).exports).map(([from, to]) => ({
    find: new RegExp(`^@portcullis/${name}${from.slice(1).replace('*', '(.+)')}$`),
    replacement: `${root}/${name}/${to.slice(2).replace('*', '$1')}`,
  }))

export default defineConfig({
  root,
  resolve: {
    alias: ['contract', 'domain', 'features', 'platform', 'server'].flatMap(exportsOf),
  },
  test: {
    include: tests,
    globalSetup: ['server/test/temporary-dir.ts', ...(needsDatabase ? ['server/test/global-setup.ts'] : [])],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
  },
})
