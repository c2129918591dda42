#!/usr/bin/env node
import { DOCUMENTS, ensureBuilds } from './bootstrap/builds.mjs'
import { assertDataDirReachable } from './bootstrap/data-dir.mjs'
import { handOver } from './bootstrap/hand-over.mjs'
import { ensureNode, linkNode } from './bootstrap/node.mjs'
// Entry point of every npm script. Plain JavaScript for Node >= 18, because it runs before anything is installed. It
// fetches what is missing (Node 24, packages, builds) and runs the command with Node 24.
import { ensurePackages } from './bootstrap/packages.mjs'
import { Refusal } from './bootstrap/say.mjs'

/** The program of each command under Node 24. The `builds` run first if their sources changed. */
const VERBS = {
  start: { program: 'server/src/entry/start.ts', builds: ['console', 'help', 'agent'] },
  // For a server that a service manager or an image runs from a read-only directory.
  build: { builds: ['console', 'help', 'agent', ...DOCUMENTS] },
  // Written to the folder of the agent, so that the next build of the agent removes an outdated installer.
  'build:msi': { program: 'scripts/msi/main.ts', builds: ['agent', ...DOCUMENTS] },
  test: { program: 'scripts/test.mjs', development: true },
  check: { program: 'scripts/check.mjs', development: true },
  agent: { program: 'agent/src/main.ts' },
  worker: { program: 'poller/src/main.ts' },
  simulate: { program: 'cli/simulator/main.ts' },
  bench: { program: 'proof/load/main.ts', development: true, builds: ['console', 'help', 'agent'] },
  drill: { program: 'proof/failure/main.ts', builds: ['console', 'help', 'agent'] },
  gate: { program: 'proof/attack/main.ts', development: true, builds: ['console', 'help', 'agent'] },
  prove: { program: 'proof/prove.ts', development: true, builds: ['console', 'help', 'agent'] },
  mutate: { program: 'proof/mutation/main.mjs', development: true },
  cli: { program: 'cli/src/main.ts' },
  release: { program: 'scripts/release/main.ts', builds: ['console', 'help', ...DOCUMENTS] },
  screenshots: { program: 'e2e/screenshots.ts', development: true, builds: ['console', 'help', 'agent'] },
}

const [name = '', ...args] = process.argv.slice(2)

try {
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (verb === undefined)
    throw new Refusal(`Usage: node scripts/bootstrap.mjs ${Object.keys(VERBS).join('|')} [arguments]`)
  if (name === 'start') assertDataDirReachable()
  const node = await ensureNode()
  await ensurePackages(node, { development: verb.development === true })
  await ensureBuilds(node, verb.builds ?? [])
  if (verb.program !== undefined) handOver(node, verb.program, args)
  else linkNode(node)
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.message)
  process.exitCode = 1
}
