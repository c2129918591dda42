import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

const BIN = join(ROOT, 'node_modules')
const tsc = join(BIN, '@typescript', 'native', 'bin', 'tsc')

/** What the source must satisfy without being run. Each is one `node` command and counts as one test. */
export const STEPS = [
  { name: 'types', args: [tsc, '-p', 'tsconfig.json', '--noEmit'] },
  { name: 'types of the console', args: [tsc, '-p', 'console/tsconfig.json', '--noEmit'] },
  {
    name: 'lint and format',
    args: [join(BIN, '@biomejs', 'biome', 'bin', 'biome'), 'ci', '--diagnostic-level=warn', '.'],
  },
  { name: 'boundaries', args: ['scripts/check-boundaries.mjs'] },
  { name: 'unused code', args: [join(BIN, 'knip', 'bin', 'knip.js')] },
  { name: 'architecture', args: ['scripts/check-architecture.mjs'] },
].filter(({ name }) => name !== 'types of the console' || existsSync(join(ROOT, 'console', 'tsconfig.json')))
