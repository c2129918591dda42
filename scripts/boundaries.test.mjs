import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import rules from '../.dependency-cruiser.cjs'
import { ROOT } from './bootstrap/say.mjs'
import { CRUISED } from './steps.mjs'

// A tree that follows every rule. Each entry is a file with its imports.
const CLEAN = {
  'contract/src/index.ts': ['typebox'],
  'features/contract.ts': ['./audit/contract/audit.ts'],
  'features/audit/contract/audit.ts': ['typebox'],
  'domain/src/index.ts': ['../../contract/src/index.ts', 'node:crypto'],
  'platform/server/db/sql.ts': ['pg'],
  'features/audit/server/index.ts': ['./audit.store.ts', '../../../contract/src/index.ts'],
  'features/audit/server/audit.store.ts': ['../../../platform/server/db/sql.ts'],
  'features/tags/server/index.ts': ['../../audit/server/index.ts'],
  'features/deliveries/server/mail/index.ts': [],
  'features/reports/server/index.ts': ['../../deliveries/server/mail/index.ts'],
  'server/src/compose.ts': [
    './compose.base.ts',
    '../../features/tags/server/index.ts',
    '../../features/ingest/server/index.ts',
    '../../features/reports/server/index.ts',
  ],
  'server/src/compose.base.ts': ['../../features/audit/server/index.ts'],
  'features/ingest/server/index.ts': ['../../audit/server/index.ts', '../../../domain/src/index.ts'],
  'server/src/entry/serve.ts': ['../compose.ts'],
  'agent/src/main.ts': ['../../domain/src/index.ts'],
  'poller/src/main.ts': ['../../domain/src/index.ts', './work.ts'],
  'poller/src/work.ts': [],
  'cli/src/main.ts': ['../../contract/src/index.ts'],
  'console/src/main.tsx': ['../../features/hosts/console/list.tsx'],
  'features/hosts/console/list.tsx': ['../../../contract/src/index.ts'],
  'server/test/app.ts': ['../src/compose.ts'],
  'proof/kit/server.ts': ['../../contract/src/index.ts'],
  'scripts/release.ts': ['../cli/src/main.ts'],
  'proof/failure/drills.ts': ['../kit/server.ts'],
  'proof/attack/gates.ts': ['../kit/server.ts'],
}

/** Returns the entry point of a capability's server part, seen from another server part. */
const other = (name) => `../../${name}/server/index.ts`

// Each entry adds one import and names the rule that must report it. The importing file may be new. `type` imports types.
const VIOLATIONS = [
  ['contract/src/index.ts', '../../features/audit/contract/audit.ts', 'contract-imports-lower-folders-only'],
  ['domain/src/index.ts', '../../features/audit/contract/audit.ts', 'domain-imports-lower-folders-only'],
  ['platform/server/http.ts', '../../features/audit/server/index.ts', 'platform-imports-lower-folders-only'],
  ['agent/src/main.ts', '../../features/audit/contract/audit.ts', 'agent-imports-lower-folders-only'],
  ['poller/src/main.ts', '../../features/audit/contract/audit.ts', 'poller-imports-lower-folders-only'],
  ['features/tags/server/index.ts', '../../../server/src/compose.ts', 'features-imports-lower-folders-only'],
  ['cli/src/main.ts', '../../console/src/main.tsx', 'cli-imports-lower-folders-only'],
  ['console/src/main.tsx', '../../server/src/compose.ts', 'console-imports-lower-folders-only'],
  ['server/src/compose.ts', '../../proof/kit/server.ts', 'server-imports-lower-folders-only'],
  ['scripts/release.ts', '../proof/kit/server.ts', 'scripts-imports-lower-folders-only'],
  ['proof/kit/server.ts', '../../e2e/harness.ts', 'proof-imports-lower-folders-only'],
  ['features/audit/server/index.ts', other('tags'), 'tier-1-imports-lower-tiers-only'],
  ['features/settings/server/index.ts', other('tags'), 'tier-2-imports-lower-tiers-only'],
  ['features/agents/server/index.ts', other('identity'), 'tier-3-imports-lower-tiers-only'],
  ['features/knowledge/server/index.ts', other('commands'), 'tier-4-imports-lower-tiers-only'],
  ['features/builds/server/index.ts', other('devices'), 'tier-5-imports-lower-tiers-only'],
  ['features/policy/server/index.ts', other('reports'), 'tier-6-imports-lower-tiers-only'],
  ['features/rollouts/server/index.ts', other('health'), 'tier-7-imports-lower-tiers-only'],
  ['features/ingest/server/index.ts', other('feeds'), 'tier-8-imports-lower-tiers-only'],
  [
    'features/reports/server/exports/index.ts',
    '../../../operations/server/index.ts',
    'tier-9-imports-lower-tiers-only',
  ],
  ['features/health/server/index.ts', other('overview'), 'tier-10-imports-lower-tiers-only'],
  ['features/cellar/server/index.ts', other('audit'), 'every-capability-has-a-tier'],
  ['features/tags/server/tags.service.ts', '../../audit/server/audit.store.ts', 'capability-only-through-index'],
  ['server/src/compose.ts', '../../features/audit/server/audit.store.ts', 'outsiders-see-the-capability-index-only'],
  ['features/ingest/server/index.ts', '../../../server/src/compose.ts', 'nobody-imports-compose-but-entries'],
  ['features/tags/server/index.ts', '../../../server/src/compose.base.ts', 'nobody-imports-compose-but-entries'],
  ['features/audit/server/audit.service.ts', '../../../platform/server/db/sql.ts', 'sql-only-in-stores'],
  ['features/ingest/server/index.ts', 'pg', 'sql-only-in-stores'],
  ['features/assets/server/kafka.ts', '@platformatic/kafka', 'large-packages-are-loaded-when-used'],
  ['features/identity/server/passkeys.ts', '@simplewebauthn/server', 'large-packages-are-loaded-when-used'],
  ['contract/src/index.ts', '../../domain/src/index.ts', 'contract-is-a-leaf'],
  ['features/audit/contract/audit.ts', '../server/audit.store.ts', 'contract-is-a-leaf'],
  ['domain/src/index.ts', '../../platform/server/db/sql.ts', 'domain-imports-contract-only'],
  ['domain/src/index.ts', 'node:fs', 'domain-does-no-io'],
  ['console/src/main.tsx', '../../domain/src/index.ts', 'console-imports-contract-only'],
  ['features/hosts/console/list.tsx', '../../audit/server/audit.store.ts', 'console-imports-contract-only'],
  ['features/events/console/list.tsx', '../../hosts/console/list.tsx', 'console-capabilities-share-through-shared'],
  ['agent/src/main.ts', '../../platform/server/db/sql.ts', 'agent-imports-contract-and-domain-only'],
  ['agent/src/loop.ts', './platform/linux/kernel.ts', 'agent-knows-no-system'],
  ['agent/src/platform/posix.ts', './macos/macos.ts', 'agent-knows-no-system'],
  ['agent/src/platform/windows/service.ts', '../linux/kernel.ts', 'systems-never-each-other'],
  ['poller/src/main.ts', '../../server/src/compose.ts', 'poller-imports-contract-and-domain-only'],
  ['agent/src/main.ts', 'ws', 'agent-has-no-packages'],
  ['cli/src/main.ts', '../../platform/server/db/sql.ts', 'cli-imports-contract-domain-agent-only'],
  ['features/audit/server/audit.store.ts', '../../../server/test/app.ts', 'product-imports-no-tests'],
  ['proof/kit/server.ts', '../attack/gates.ts', 'kit-imports-no-proof'],
  ['proof/failure/drills.ts', '../attack/gates.ts', 'proofs-never-each-other'],
  ['platform/server/db/sql.ts', '../../../features/audit/server/audit.store.ts', 'no-cycles'],
  ['poller/src/work.ts', 'type ./main.ts', 'no-cycles'],
  ['domain/src/forgotten.ts', undefined, 'no-orphans'],
  ['cli/src/main.ts', './missing.ts', 'every-import-resolves'],
]

let found

// All in one run, because a run takes half a second. The tests look for the pair of rule and importing file.
beforeAll(() => {
  const files = { ...CLEAN }
  for (const [file, imported, rule] of VIOLATIONS) {
    files[file] = imported === undefined ? [] : [...(files[file] ?? []), imported]
    const target =
      imported?.startsWith('.') && rule !== 'every-import-resolves' ? join(dirname(file), imported) : undefined
    if (target !== undefined) files[target] ??= []
  }
  found = cruise(files)
})

it('accepts a tree that follows the rules', () => {
  expect(cruise(CLEAN)).toEqual([])
})

it.each(VIOLATIONS)('%s importing %s breaks %s', (file, _imported, rule) => {
  expect(found).toContain(`${rule}: ${file}`)
})

it('plants a violation for every rule', () => {
  const planted = new Set(VIOLATIONS.map(([, , rule]) => rule))
  expect(rules.forbidden.map((rule) => rule.name).filter((name) => !planted.has(name))).toEqual([])
})

/** Writes the tree and returns `rule: file` for every violation. */
function cruise(files) {
  const tree = mkdtempSync(join(tmpdir(), 'portcullis-boundaries-'))
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  writeFileSync(join(tree, 'tsconfig.json'), '{}')
  for (const [file, imports] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    const types = imports.filter((from) => from.startsWith('type '))
    const values = imports.filter((from) => !from.startsWith('type '))
    const names = [
      ...values.map((from, index) => `import * as x${index} from '${from}'\n`),
      ...types.map((from, index) => `import type * as T${index} from '${from.slice('type '.length)}'\n`),
    ]
    writeFileSync(join(tree, file), `${names.join('')}export const used = [${values.map((_, index) => `x${index}`)}]\n`)
  }
  const program = join(ROOT, 'node_modules', '.bin', 'depcruise')
  const folders = CRUISED.filter((folder) => existsSync(join(tree, folder)))
  const args = [program, '--config', join(ROOT, '.dependency-cruiser.cjs'), '--output-type', 'json', ...folders]
  const done = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  rmSync(tree, { recursive: true, force: true })
  if (done.stdout === '') throw new Error(done.stderr)
  // A cycle is reported only for the first of its files, so count it for each of them.
  return JSON.parse(done.stdout).summary.violations.flatMap(({ rule, from, cycle = [] }) =>
    [from, ...cycle.map((member) => member.name)].map((file) => `${rule.name}: ${file}`),
  )
}
