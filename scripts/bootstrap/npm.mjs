import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Refusal } from './say.mjs'

/**
 * The npm to run, as a script file. `npm root -g` cannot be asked: once Node 24 is first in PATH it names a folder
 * of that Node, and the package it comes in has no npm.
 */
export function findNpm() {
  const candidates = [
    process.env.npm_execpath,
    join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    ...(process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, 'npm')),
  ]
  for (const file of candidates) {
    // yarn and pnpm set npm_execpath too; they cannot read this lockfile.
    if (file !== undefined && existsSync(file) && realpathSync(file).endsWith('npm-cli.js')) return realpathSync(file)
  }
  throw new Refusal(
    'npm was not found: install it together with Node (https://nodejs.org), or run this through `npm start`.',
  )
}
