import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

const MODULES = join(ROOT, 'node_modules')
const tsc = join(MODULES, '@typescript', 'native', 'bin', 'tsc')

/** Folders whose imports are checked. */
export const CRUISED = [
  'contract',
  'domain',
  'platform',
  'features',
  'server/src',
  'server/test',
  'console/src',
  'agent',
  'poller',
  'cli',
  'proof',
  'e2e',
  'scripts',
]
const depcruise = [join(MODULES, '.bin', 'depcruise'), '--config', join(ROOT, '.dependency-cruiser.cjs')]

/** Results for unchanged files are cached: a second type check takes 3 s instead of 26. */
const types = (project, name) => ({
  name,
  args: [
    tsc,
    '-p',
    project,
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    join(ROOT, 'build', 'check', `${name.replaceAll(' ', '-')}.tsbuildinfo`),
  ],
})

/** Static checks of the source. Each is one `node` command and counts as one test. */
export const STEPS = [
  types('tsconfig.json', 'types'),
  types('console/tsconfig.json', 'types of the console'),
  {
    name: 'lint and format',
    args: [join(MODULES, '.bin', 'biome'), 'ci', '--diagnostic-level=warn', '.'],
  },
  { name: 'boundaries', args: [...depcruise, '--output-type', 'err', ...CRUISED] },
  { name: 'unused code', args: [join(MODULES, '.bin', 'knip'), '--no-config-hints'] },
  { name: 'architecture', args: ['scripts/check-architecture.mjs'] },
  { name: 'decisions', args: ['scripts/check-decisions.mjs'] },
  { name: 'ports', args: ['scripts/check-ports.mjs'] },
  { name: 'language', args: ['scripts/check-language.mjs'] },
  { name: 'table owners', args: ['scripts/table-owners.mjs'] },
].filter(({ name }) => name !== 'types of the console' || existsSync(join(ROOT, 'console', 'tsconfig.json')))
