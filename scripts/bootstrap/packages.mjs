import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { findNpm } from './npm.mjs'
import { run, tail } from './run.mjs'
import { Refusal, ROOT, say } from './say.mjs'
import { bundleTypebox } from './typebox.mjs'

const LOCK = join(ROOT, 'package-lock.json')
const MODULES = join(ROOT, 'node_modules')
const STAMP = join(MODULES, '.portcullis-lock')

/** Runs `npm ci` if the installed packages differ from the lockfile. */
export async function ensurePackages(node, { development }) {
  if (isCurrent(development)) return
  await withLock(join(ROOT, '.node', 'packages.lock'), 'installing the packages', async () => {
    if (!isCurrent(development)) await install(node, development)
  })
}

function isCurrent(development) {
  // npm writes this file last, so an interrupted install runs again.
  const installed = join(MODULES, '.package-lock.json')
  if (!existsSync(installed)) return false
  if (development && !existsSync(join(MODULES, 'vitest'))) return false
  // git updates the lockfile's time on every change of branch, so only its content counts.
  return (
    statSync(installed).mtimeMs >= statSync(LOCK).mtimeMs ||
    (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digest())
  )
}

const digest = () => createHash('sha256').update(readFileSync(LOCK)).digest('hex')

async function install(node, development) {
  say('installing the packages in package-lock.json (npm ci, without install scripts)')
  const began = Date.now()
  // Under Node 24 and with npm's own script, because an npm under Node 20 would resolve and warn for Node 20.
  const args = [findNpm(), 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const done = await run(node, development ? [...args, '--include=dev'] : args)
  if (!done.ok) throw new Refusal(`The packages could not be installed:\n${tail(done.output)}`)
  await bundleTypebox(MODULES)
  writeFileSync(STAMP, digest())
  say(`packages installed in ${((Date.now() - began) / 1000).toFixed(1)} s`)
}
