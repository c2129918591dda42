/** Installs the packages that a server needs at run time on a given system, from the lockfile. */
import { cpSync, globSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findNpm } from '../bootstrap/npm.mjs'
import { run, tail } from '../bootstrap/run.mjs'
import { ROOT } from '../bootstrap/say.mjs'
import type { Target } from './targets.ts'

const WORKSPACES = ['contract', 'domain', 'platform', 'features', 'server', 'poller', 'cli']

/** Files and packages that only compilers and debuggers read: a third of all files of the packages. */
const UNUSED = ['**/*.d.ts', '**/*.d.mts', '**/*.d.cts', '**/*.map', '@types', 'undici-types']

/**
 * Installs the run-time packages of the server into `dir`, for the operating system and architecture of `target`.
 * Install scripts do not run.
 */
export const installPackages = async (dir: string, target: Target): Promise<void> => {
  const manifests = globSync('*/package.json', { cwd: ROOT, exclude: ['node_modules'] })
  for (const file of ['package.json', 'package-lock.json', '.npmrc', ...manifests])
    cpSync(join(ROOT, file), join(dir, file))
  const args = [
    ...[findNpm(), 'ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    ...['--include-workspace-root=false', ...WORKSPACES.flatMap((name) => ['-w', name])],
    ...[`--os=${target.os}`, `--cpu=${target.arch}`, '--libc=glibc'],
  ]
  const done = await run(process.execPath, args, { cwd: dir })
  if (!done.ok) throw new Error(`The packages for ${target.name} could not be installed:\n${tail(done.output)}`)
  const modules = globSync(['node_modules', '*/node_modules'], { cwd: dir }).map((name) => join(dir, name))
  for (const cwd of modules)
    for (const file of globSync(UNUSED, { cwd })) rmSync(join(cwd, file), { recursive: true, force: true })
  // npm writes this file for itself; it names the time of the installation.
  for (const cwd of modules) rmSync(join(cwd, '.package-lock.json'), { force: true })
  for (const file of ['package-lock.json', '.npmrc', ...manifests]) rmSync(join(dir, file), { force: true })
  // Workspaces without packages of their own are empty now.
  for (const name of manifests.map((file) => dirname(file)))
    if (readdirSync(join(dir, name)).length === 0) rmdirSync(join(dir, name))
}
