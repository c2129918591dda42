// The boundaries of ARCHITECTURE.md as rules. Run by scripts/check-boundaries.mjs; proven to bite by
// scripts/boundaries.test.mjs. Paths are matched from the start, so the same rules judge a fixture tree.

const { TIERS } = require('./scripts/tiers.cjs')

/** Capabilities lie in `features/<capability>/{contract,server,console}/`. */
const FEATURE = '^features/'
const SERVER = '(server|platform/server|features/[^/]+/server)/'
const CONSOLE = '(console|platform/console|features/[^/]+/console)/'
const CONTRACT = '(contract|platform/contract|features/[^/]+/contract)/'
const anyOf = (names) => `(${names.join('|')})/`
const TEST = '\\.test\\.(ts|tsx|mjs)$'

// A last tier of one feature has nothing that it must not import.
const bound = TIERS.filter((tier, index) => index < TIERS.length - 1 || tier.length > 1)
const tierRules = bound.map((tier, index) => ({
  name: `tier-${index + 1}-imports-lower-tiers-only`,
  comment: `${tier.join(', ')}: what must call upwards is passed in by compose.ts`,
  severity: 'error',
  from: { path: `${FEATURE}${anyOf(tier)}server/`, pathNot: TEST },
  // Everything of its own tier and above except itself ($1 is the importing feature).
  to: { path: `${FEATURE}${anyOf(TIERS.slice(index).flat())}server/`, pathNot: `${FEATURE}$1/` },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...tierRules,
    {
      name: 'every-feature-has-a-tier',
      comment: 'a feature folder that TIERS does not name would escape the tier rules',
      severity: 'error',
      from: { path: `${FEATURE}(?!${anyOf(TIERS.flat())})[^/]+/` },
      to: {},
    },
    {
      name: 'feature-only-through-index',
      severity: 'error',
      from: { path: `${FEATURE}([^/]+)/server/` },
      to: { path: `${FEATURE}[^/]+/server/(?!index\\.ts$|[a-z-]+/index\\.ts$)`, pathNot: `${FEATURE}$1/` },
    },
    {
      name: 'outsiders-see-the-feature-index-only',
      comment: 'compose, entries and the test harness know a feature by its index.ts',
      severity: 'error',
      from: { path: '^(server|cli|proof|e2e)/' },
      to: { path: `${FEATURE}[^/]+/server/(?!index\\.ts$|[a-z-]+/index\\.ts$)` },
    },
    {
      name: 'platform-knows-no-feature',
      severity: 'error',
      from: { path: '^platform/' },
      to: { path: '^(features/|server/src/)' },
    },
    {
      name: 'nobody-imports-compose-but-entries',
      severity: 'error',
      from: { path: '^(features|platform)/' },
      to: { path: '^server/src/compose\\.' },
    },
    {
      name: 'sql-only-in-stores',
      comment: 'SQL lies in *.store.ts (writes) and *.read.ts (screens); the platform has the tools',
      severity: 'error',
      from: { path: '^(server/src|features)/', pathNot: `\\.(store|read)\\.ts$|${TEST}` },
      to: {
        path: '^platform/server/db/sql\\.ts$|node_modules/(pg|pg-copy-streams)/',
        dependencyTypesNot: ['type-only', 'type-import'],
      },
    },
    {
      name: 'kafka-is-loaded-when-used',
      comment: 'it compiles its schemas while it is loaded: a second of processor time at each start of a server',
      severity: 'error',
      from: { path: `^${SERVER}` },
      to: { path: 'node_modules/@platformatic/kafka/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'contract-is-a-leaf',
      severity: 'error',
      from: { path: `^${CONTRACT}`, pathNot: TEST },
      to: { path: `^(${SERVER}|${CONSOLE}|(domain|agent|poller|cli|proof|e2e|knowledge|scripts)/)` },
    },
    {
      name: 'domain-imports-contract-only',
      severity: 'error',
      from: { path: '^domain/' },
      to: { path: `^(${SERVER}|${CONSOLE}|(agent|cli|proof|e2e|scripts)/)` },
    },
    {
      name: 'domain-does-no-io',
      severity: 'error',
      from: {
        path: '^domain/', // Of net, these files use BlockList and isIP: computing, no connection.
        pathNot: `${TEST}|^domain/(test/|src/[^/]*test|src/(addresses|proxy)\\.ts$)`,
      },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|buffer|util)$' },
    },
    {
      name: 'console-imports-contract-only',
      severity: 'error',
      from: { path: `^${CONSOLE}` },
      to: { path: `^(${SERVER}|(domain|agent|cli|proof|e2e|scripts)/)` },
    },
    {
      name: 'console-features-never-each-other',
      severity: 'error',
      from: { path: `${FEATURE}([^/]+)/console/` },
      to: { path: `${FEATURE}[^/]+/console/`, pathNot: `${FEATURE}$1/` },
    },
    {
      name: 'agent-imports-contract-and-domain-only',
      severity: 'error',
      from: { path: '^agent/' },
      to: { path: `^(${SERVER}|${CONSOLE}|(cli|proof|e2e|scripts)/)` },
    },
    {
      name: 'poller-imports-contract-and-domain-only',
      comment: 'it never sees the database, and runs on other machines',
      severity: 'error',
      from: { path: '^poller/' },
      to: { path: `^(${SERVER}|${CONSOLE}|(agent|cli|proof|e2e|scripts)/)` },
    },
    {
      name: 'agent-has-no-packages',
      comment: 'it becomes one executable under 100 MB of memory: node: modules, contract and domain only',
      severity: 'error',
      from: { path: '^agent/src/' },
      to: { path: 'node_modules/(?!typebox/)' },
    },
    {
      name: 'agent-knows-no-system',
      comment: 'the shared agent uses platform.ts; only an entry chooses the operating system',
      severity: 'error',
      from: { path: '^agent/src/', pathNot: '^agent/src/(main|platform/(linux|macos|windows)/)' },
      to: { path: '^agent/src/platform/(linux|macos|windows)/' },
    },
    {
      name: 'systems-never-each-other',
      severity: 'error',
      from: { path: '^agent/src/platform/(linux|macos|windows)/' },
      to: { path: '^agent/src/platform/(linux|macos|windows)/', pathNot: '^agent/src/platform/$1/' },
    },
    {
      name: 'cli-imports-contract-domain-agent-only',
      comment: 'what touches the database is a server entry that the CLI starts, not imports',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: `^(${SERVER}|${CONSOLE}|(proof|e2e|scripts)/)` },
    },
    {
      name: 'product-imports-no-tests',
      severity: 'error',
      from: { path: '^(contract|domain|platform|features|server/src|console/src|agent/src|cli)/', pathNot: TEST },
      to: { path: `${TEST}|^(server/test|e2e|proof)/` },
    },
    {
      name: 'kit-imports-no-proof',
      comment: 'all proofs use the kit, and it uses none of them',
      severity: 'error',
      from: { path: '^proof/kit/' },
      to: { path: '^(proof/(load|failure|attack)|e2e)/' },
    },
    {
      name: 'proofs-never-each-other',
      comment: 'what two kinds of proof need belongs into proof/kit/',
      severity: 'error',
      from: { path: '^proof/(load|failure|attack)/' },
      to: { path: '^proof/(load|failure|attack)/', pathNot: '^proof/$1/' },
    },
    {
      name: 'no-cycles',
      comment: 'also of types: files that need each other are one file, or lack a third',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'a file that nobody imports is an entry, a test, a declaration or dead',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: `${TEST}|\\.d\\.ts$|^(server/src/entry/|agent/src/main|agent/src/platform/[a-z]+/main|cli/(src|simulator)/main|proof/|e2e/|scripts/|console/(vite|public/|src/app/main))`,
      },
      to: {},
    },
    { name: 'every-import-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(build|dist|[a-z]+/(build|dist))/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs', '.json', '.d.ts'],
    },
  },
}
