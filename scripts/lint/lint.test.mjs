// Invariant: Only the platform reads the environment and the clock, and the shared agent asks for no operating
//   system.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { ROOT } from '../bootstrap/say.mjs'

const CLOCK = 'Take the clock or the environment'
const SYSTEM = 'Use the interface in agent/src/platform/platform.ts'
const LOCKS = 'Add the lock to platform/server/db/locks.ts'

const REFUSED = [
  ['features/tags/server/tags.service.ts', 'export const at = Date.now()\n', CLOCK],
  ['agent/src/spool.ts', 'export const at = new Date()\n', CLOCK],
  ['agent/src/lock.ts', "export const isMac = process.platform === 'darwin'\n", SYSTEM],
  ['agent/src/platform/posix.ts', "export const isMac = process.platform === 'darwin'\n", SYSTEM],
  ['platform/console/lib/format.ts', 'export const at = Date.now()\n', CLOCK],
  ['cli/src/table.ts', 'export const port = process.env.PORT\n', CLOCK],
  ['features/tags/server/tags.store.ts', 'export const s = sql`select pg_advisory_xact_lock(1)`\n', LOCKS],
]
const ACCEPTED = [
  ['server/src/entry/serve.ts', 'export const at = Date.now() + Number(process.env.PORT)\n'],
  ['platform/server/clock.ts', 'export const at = Date.now()\n'],
  ['features/tags/server/tags.routes.ts', 'export const at = (seconds) => new Date(seconds * 1000)\n'],
  ['agent/src/platform/windows/paths.ts', 'export const name = process.platform\n'],
  ['agent/test/spool.test.ts', 'export const at = Date.now()\n'],
]

let found

beforeAll(() => {
  const tree = mkdtempSync(join(tmpdir(), 'portcullis-lint-'))
  const { vcs, ...config } = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'))
  writeFileSync(join(tree, 'biome.json'), JSON.stringify(config))
  cpSync(join(ROOT, 'scripts', 'lint'), join(tree, 'scripts', 'lint'), { recursive: true })
  for (const [file, text] of [...REFUSED, ...ACCEPTED]) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    writeFileSync(join(tree, file), text)
  }
  const biome = join(ROOT, 'node_modules', '.bin', 'biome')
  const done = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', '.'], { cwd: tree, encoding: 'utf8' })
  rmSync(tree, { recursive: true, force: true })
  found = JSON.parse(done.stdout).diagnostics.map(({ message, location }) => `${location.path}: ${message}`)
})

const of = (file) => found.filter((line) => line.startsWith(`${file}: `))

it.each(REFUSED)('%s is refused: %s', (file, _text, message) => {
  expect(of(file).join('\n')).toContain(message)
})

it.each(ACCEPTED)('%s is accepted: %s', (file) => {
  expect(of(file)).toEqual([])
})
