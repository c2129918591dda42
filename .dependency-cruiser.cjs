// The boundaries of ARCHITECTURE.md as rules of dependency-cruiser. scripts/boundaries.test.mjs plants a violation of
// each. Paths are matched from the start, so the same rules apply to its trees. scripts/invariants.mjs lists the comments.

const { FOLDERS, TIERS } = require('./scripts/tiers.cjs')

/** Capabilities lie in `features/<capability>/{contract,server,console}/`. */
const CAPABILITY = '^features/'
const SERVER = '(server|platform/server|features/[^/]+/server)/'
const CONSOLE = '(console|platform/console|features/[^/]+/console)/'
const CONTRACT = '(contract|platform/contract|features/[^/]+/contract)/'
const anyOf = (names) => `(${names.join('|')})/`
const TEST = '\\.test\\.(ts|tsx|mjs)$'

// A last tier with a single capability may import every other one.
const bound = TIERS.filter((tier, index) => index < TIERS.length - 1 || tier.length > 1)
const tierRules = bound.map((tier, index) => ({
  name: `tier-${index + 1}-imports-lower-tiers-only`,
  comment: `The server parts of ${tier.join(', ')} import lower tiers only; compose.ts passes in what calls upwards.`,
  severity: 'error',
  from: { path: `${CAPABILITY}${anyOf(tier)}server/`, pathNot: TEST },
  // Its own tier and those above, except the importing capability ($1).
  to: { path: `${CAPABILITY}${anyOf(TIERS.slice(index).flat())}server/`, pathNot: `${CAPABILITY}$1/` },
}))

const folderRules = FOLDERS.slice(0, -1).map((folder, index) => ({
  name: `${folder}-imports-lower-folders-only`,
  comment: `No import runs from ${folder}/ to a folder above it: ${FOLDERS.slice(index + 1).join(', ')}.`,
  severity: 'error',
  from: { path: `^${folder}/`, pathNot: `${TEST}|^server/test/` },
  to: { path: `^${anyOf(FOLDERS.slice(index + 1))}` },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...folderRules,
    ...tierRules,
    {
      name: 'every-capability-has-a-tier',
      comment: 'Every capability has a tier; one that TIERS does not name would escape the tier rules.',
      severity: 'error',
      from: { path: `${CAPABILITY}(?!${anyOf(TIERS.flat())})[^/]+/` },
      to: {},
    },
    {
      name: 'capability-only-through-index',
      comment: 'A capability imports the server part of another only through its index.ts.',
      severity: 'error',
      from: { path: `${CAPABILITY}([^/]+)/server/` },
      to: { path: `${CAPABILITY}[^/]+/server/(?!index\\.ts$|[a-z-]+/index\\.ts$)`, pathNot: `${CAPABILITY}$1/` },
    },
    {
      name: 'outsiders-see-the-capability-index-only',
      comment: 'Compose, entries and test kits import a capability only through its index.ts.',
      severity: 'error',
      from: { path: '^(server|cli|proof|e2e)/' },
      to: { path: `${CAPABILITY}[^/]+/server/(?!index\\.ts$|[a-z-]+/index\\.ts$)` },
    },
    {
      name: 'nobody-imports-compose-but-entries',
      comment: 'Only entries and tests import compose.ts.',
      severity: 'error',
      from: { path: '^(features|platform)/' },
      to: { path: '^server/src/compose\\.' },
    },
    {
      name: 'sql-only-in-stores',
      comment: 'SQL is in *.store.ts (writes), *.read.ts (lists and pages) and the platform.',
      severity: 'error',
      from: { path: '^(server/src|features)/', pathNot: `\\.(store|read)\\.ts$|${TEST}` },
      to: {
        path: '^platform/server/db/sql\\.ts$|node_modules/(pg|pg-copy-streams)/',
        dependencyTypesNot: ['type-only', 'type-import'],
      },
    },
    {
      name: 'large-packages-are-loaded-when-used',
      comment:
        'The server loads the Kafka client and the WebAuthn library when it uses them: the client takes a second to compile its schemas, and the library has 290 files.',
      severity: 'error',
      from: { path: `^${SERVER}` },
      to: {
        path: 'node_modules/@(platformatic/kafka|simplewebauthn/server)/',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'contract-is-a-leaf',
      comment: 'The contract imports no other workspace.',
      severity: 'error',
      from: { path: `^${CONTRACT}`, pathNot: TEST },
      to: { path: `^(${SERVER}|${CONSOLE}|(domain|agent|poller|cli|proof|e2e|knowledge|scripts)/)` },
    },
    {
      name: 'domain-imports-contract-only',
      comment: 'The domain imports only the contract.',
      severity: 'error',
      from: { path: '^domain/' },
      to: { path: `^(${SERVER}|${CONSOLE}|(agent|cli|proof|e2e|scripts)/)` },
    },
    {
      name: 'domain-does-no-io',
      comment: 'The domain does no input and output.',
      severity: 'error',
      from: {
        path: '^domain/', // Of net, these files use BlockList and isIP: computing, no connection.
        pathNot: `${TEST}|^domain/(test/|src/[^/]*test|src/(addresses|proxy)\\.ts$)`,
      },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|buffer|util)$' },
    },
    {
      name: 'console-imports-contract-only',
      comment: 'The console imports only the contract.',
      severity: 'error',
      from: { path: `^${CONSOLE}` },
      to: { path: `^(${SERVER}|(domain|agent|cli|proof|e2e|scripts)/)` },
    },
    {
      name: 'console-capabilities-share-through-shared',
      comment: 'The console part of a capability imports only console/shared/ of another.',
      severity: 'error',
      from: { path: `${CAPABILITY}([^/]+)/console/` },
      to: { path: `${CAPABILITY}[^/]+/console/(?!shared/)`, pathNot: `${CAPABILITY}$1/` },
    },
    {
      name: 'agent-imports-contract-and-domain-only',
      comment: 'The agent imports only the contract and the domain.',
      severity: 'error',
      from: { path: '^agent/' },
      to: { path: `^(${SERVER}|${CONSOLE}|(cli|proof|e2e|scripts)/)` },
    },
    {
      name: 'poller-imports-contract-and-domain-only',
      comment:
        'The worker imports only the contract and the domain: it never sees the database, and runs on other machines.',
      severity: 'error',
      from: { path: '^poller/' },
      to: { path: `^(${SERVER}|${CONSOLE}|(agent|cli|proof|e2e|scripts)/)` },
    },
    {
      name: 'agent-has-no-packages',
      comment: 'The agent has no packages: it becomes one executable under 100 MB of memory on hosts of other people.',
      severity: 'error',
      from: { path: '^agent/src/' },
      to: { path: 'node_modules/(?!typebox/)' },
    },
    {
      name: 'agent-knows-no-system',
      comment: 'The shared part of the agent uses platform.ts; only an entry chooses the operating system.',
      severity: 'error',
      from: { path: '^agent/src/', pathNot: '^agent/src/(main|platform/(linux|macos|windows)/)' },
      to: { path: '^agent/src/platform/(linux|macos|windows)/' },
    },
    {
      name: 'systems-never-each-other',
      comment: 'The parts of the agent for operating systems never import each other.',
      severity: 'error',
      from: { path: '^agent/src/platform/(linux|macos|windows)/' },
      to: { path: '^agent/src/platform/(linux|macos|windows)/', pathNot: '^agent/src/platform/$1/' },
    },
    {
      name: 'cli-imports-contract-domain-agent-only',
      comment: 'The command line imports no server part: what touches the database is a server entry that it starts.',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: `^(${SERVER}|${CONSOLE}|(proof|e2e|scripts)/)` },
    },
    {
      name: 'product-imports-no-tests',
      comment: 'The product imports no tests.',
      severity: 'error',
      from: { path: '^(contract|domain|platform|features|server/src|console/src|agent/src|cli)/', pathNot: TEST },
      to: { path: `${TEST}|^(server/test|e2e|proof)/` },
    },
    {
      name: 'kit-imports-no-proof',
      comment: 'The kit of the proofs imports no proof.',
      severity: 'error',
      from: { path: '^proof/kit/' },
      to: { path: '^proof/(load|failure|attack|devices|pages)/' },
    },
    {
      name: 'proofs-never-each-other',
      comment: 'Proofs of different kinds never import each other: what two of them need belongs to proof/kit/.',
      severity: 'error',
      from: { path: '^proof/(load|failure|attack)/' },
      to: { path: '^proof/(load|failure|attack)/', pathNot: '^proof/$1/' },
    },
    {
      name: 'no-cycles',
      comment:
        'No imports form a circle, nor do those of types: files that need each other are one file, or lack a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nobody imports is an entry, a test or a declaration.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: `${TEST}|\\.d\\.ts$|^(server/src/entry/|agent/src/main|agent/src/platform/[a-z]+/main|cli/(src|simulator)/main|proof/|e2e/|scripts/|console/(vite|public/|src/app/main))`,
      },
      to: {},
    },
    {
      name: 'every-import-resolves',
      comment: 'Every import resolves.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
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
