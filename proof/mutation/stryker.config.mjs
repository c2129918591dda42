import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { groups } from './groups.mjs'

const name = process.env.MUTATION_GROUP
const own = (path) => new URL(path, import.meta.url).pathname

export default {
  mutate: groups[name].mutate,
  testRunner: 'vitest',
  vitest: { configFile: 'proof/mutation/vitest.config.mjs', related: false },
  plugins: [own('node_modules/@stryker-mutator/vitest-runner/dist/src/index.js'), own('ignore.mjs')],
  ignorers: ['log-lines', 'empty-catches'],
  ignorePatterns: ['build', '.node', 'docs', 'console/dist'],
  // Outside the checkout, where other commands would find every test twice.
  tempDirName: join(tmpdir(), 'portcullis-mutation'),
  coverageAnalysis: 'perTest',
  // Two runners slow each other down: mutants then miss time limits and count as detected.
  concurrency: 1,
  timeoutMS: 20_000,
  thresholds: { high: 100, low: 90, break: 90 },
  reporters: ['json', 'html', 'progress-append-only'],
  incrementalFile: `build/mutation/${name}.json`,
  jsonReporter: { fileName: `build/mutation/${name}.json` },
  htmlReporter: { fileName: `build/mutation/${name}.html` },
  logLevel: 'warn',
}
