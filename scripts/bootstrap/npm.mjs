import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Refusal } from './say.mjs'

/**
 * Returns the path of npm's script. `npm root -g` does not help: once Node 24 is first in PATH, it names a directory of
 * that Node, whose package contains no npm.
 */
export function findNpm() {
  const candidates = [
    process.env.npm_execpath,
    join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    ...(process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, 'npm')),
  ]
  for (const file of candidates) {
    // yarn and pnpm set npm_execpath too, but they cannot read this lockfile.
    if (file !== undefined && existsSync(file) && realpathSync(file).endsWith('npm-cli.js')) return realpathSync(file)
  }
  throw new Refusal('npm was not found. Install it together with Node (https://nodejs.org), or use `npm start`.')
}
