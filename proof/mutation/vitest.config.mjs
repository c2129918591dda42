import { defineConfig } from 'vitest/config'
import { groups } from './groups.mjs'

const { tests, needsDatabase = false } = groups[process.env.MUTATION_GROUP]
/** The mutated copy of the checkout. The links in node_modules lead to the checkout itself. */
const root = process.cwd()

export default defineConfig({
  root,
  resolve: {
    alias: [
      { find: /^@portcullis\/([a-z]+)$/, replacement: `${root}/$1/src/index.ts` },
      { find: /^@portcullis\/([a-z]+)\/([a-z-]+)$/, replacement: `${root}/$1/src/$2.ts` },
    ],
  },
  test: {
    include: tests,
    globalSetup: ['server/test/temporary-dir.ts', ...(needsDatabase ? ['server/test/global-setup.ts'] : [])],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
  },
})
