import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'

const COMPOSE = `import { accountsFeature } from '@portcullis/features/identity/server/accounts/index.ts'
import { agentsFeature } from '@portcullis/features/agents/server/index.ts'
import { eventsFeature } from '@portcullis/features/events/server/index.ts'
import { ingestFeature } from '@portcullis/features/ingest/server/index.ts'
import { policyFeature } from '@portcullis/features/policy/server/index.ts'
import { createHttpApp } from '@portcullis/platform/server/http/http-app.ts'

export const compose = async (options) => {
  const app = createHttpApp({ authenticate: (token) => accounts.authenticate(token) })
  const events = eventsFeature(app, { hosts: { latest: (tx) => agents.latest(tx) } })
  const agents = agentsFeature(app, { events, clock: options.clock })
  const accounts = await accountsFeature(app, { events })
  const policy = policyFeature(app, { agents, nameOf: (agents) => agents.name })
  const ingest = ingestFeature(app, { agents, policy })
  events.forget(agents.kept())
  return { ingest, accounts, policy }
}
`
const ROW = '| `features/events/server/ports.ts`, `HostsPort` | `agents` | for lists |'
const CLEAN = {
  'ARCHITECTURE.md': `${ROW}\n`,
  'server/src/compose.ts': COMPOSE,
  'features/events/server/ports.ts': 'export interface HostsPort {}\n',
  'features/events/server/index.ts': 'export interface Deps {\n  hosts: HostsPort\n}\n',
  'features/agents/server/index.ts': 'export interface Deps {\n  rules: unknown\n}\n',
}

let tree

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'portcullis-ports-'))
})
afterEach(() => rmSync(tree, { recursive: true, force: true }))

it('accepts a capability that declares its needs of a higher one', () => {
  expect(check({})).toEqual({ status: 0, said: '' })
})

const agentsTake = (what, more = '') => ({
  'server/src/compose.ts': COMPOSE.replace('{ events, clock: options.clock }', what).replace(
    '  const agents =',
    `${more}  const agents =`,
  ),
})

it.each([
  [
    'a lambda to a capability above',
    agentsTake('{ events, rules: (id) => policy.rulesOf(id) }'),
    'server/src/compose.ts:11: agents receives policy',
  ],
  ['a capability above by its name', agentsTake('{ events, policy }'), 'agents receives policy'],
  ['a capability of the same tier', withDeliveries('{ agents }'), 'deliveries receives agents'],
  ['the ingest', agentsTake('{ events, depth: () => ingest.depth() }'), 'agents receives ingest'],
  [
    'a constant that hides the call',
    agentsTake('{ events, rules }', '  const rules = { of: (id) => policy.rulesOf(id) }\n'),
    'agents receives policy',
  ],
  [
    'names taken out of a capability above',
    agentsTake('{ events, rulesOf }', '  const { rulesOf } = policy\n'),
    'agents receives policy',
  ],
  [
    'what compose registers below',
    { 'server/src/compose.ts': COMPOSE.replace('events.forget(agents.kept())', 'events.on((tx) => policy.hear(tx))') },
    'events receives policy',
  ],
  [
    'a second need of the same pair, without a port',
    {
      'server/src/compose.ts': COMPOSE.replace(
        'agents.latest(tx) } })',
        'agents.latest(tx) }, names: () => agents.names() })',
      ),
    },
    'events receives agents, which is not below it (names)',
  ],
  [
    'a port that nothing binds',
    { 'server/src/compose.ts': COMPOSE.replace('agents.latest(tx)', 'tx') },
    'lists that events calls agents, which compose does not bind',
  ],
  [
    'a port that is not listed',
    { 'ARCHITECTURE.md': '' },
    'does not list HostsPort of features/events/server/ports.ts',
  ],
  [
    'a ports.ts that is not listed',
    { 'features/deliveries/server/ports.ts': 'export interface ReportsPort {}\n' },
    'does not list ReportsPort of features/deliveries/server/ports.ts',
  ],
  [
    'a listed ports.ts that is gone',
    { 'ARCHITECTURE.md': `${ROW}\n${ROW.replace('events', 'deliveries')}\n` },
    'lists features/deliveries/server/ports.ts, which is gone',
  ],
  [
    'a seventh pair',
    {
      'ARCHITECTURE.md': ['agents', 'policy', 'quarantine', 'deliveries', 'jobs', 'health', 'reports']
        .map((higher) => ROW.replace('agents', higher))
        .join('\n'),
    },
    '7 capabilities call one above them; 6 is the limit',
  ],
])('refuses %s', (_name, files, reason) => {
  const { status, said } = check(files)
  expect([status, said]).toEqual([1, expect.stringContaining(reason)])
})

function withDeliveries(given) {
  return {
    'server/src/compose.ts': COMPOSE.replace(
      '  const policy =',
      `  deliveriesFeature(app, ${given})\n  const policy =`,
    ).replace(
      'import { policyFeature }',
      "import { deliveriesFeature } from '@portcullis/features/deliveries/server/index.ts'\nimport { policyFeature }",
    ),
  }
}

function check(files) {
  for (const [path, text] of Object.entries({ ...CLEAN, ...files })) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const done = spawnSync(process.execPath, [join(ROOT, 'scripts/check-ports.mjs'), tree], { encoding: 'utf8' })
  return { status: done.status, said: done.stderr }
}
