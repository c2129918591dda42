/** Identifies the measured tree: a hash over everything that determines what the product does and how it is measured. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

export interface Tree {
  hash: string
  /** The commit, if the work tree has no other changes. */
  commit: string | null
}

/** Documentation, the proof pages, and the program that writes them. */
const ignored = /^(?:docs\/|scripts\/proof\/|scripts\/prove\.ts$|\.github\/|sbom\.cdx\.json$|LICENSE$|[^/]+\.md$)/

const git = (root: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr}. Proofs need a git checkout.`)
  return stdout
}

/** Returns true if a change to this file makes older figures stale. */
export const isMeasured = (path: string): boolean => !ignored.test(path)

/** Hashes the work tree, including uncommitted changes. */
export const readTree = (root: string): Tree => {
  const paths = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
    .split('\0')
    .filter((path) => path !== '' && isMeasured(path))
  const hash = createHash('sha256')
  for (const path of [...new Set(paths)].sort()) {
    const file = join(root, path)
    const stat = lstatSync(file, { throwIfNoEntry: false })
    if (stat === undefined || stat.isDirectory()) continue
    const content = stat.isSymbolicLink() ? readlinkSync(file) : readFileSync(file)
    hash.update(`${path}\0${createHash('sha256').update(content).digest('hex')}\n`)
  }
  const changed = git(root, 'status', '--porcelain', '-z', '--untracked-files=all')
    .split('\0')
    .some((line) => line !== '' && isMeasured(line.slice(3)))
  return { hash: hash.digest('hex').slice(0, 20), commit: changed ? null : git(root, 'rev-parse', 'HEAD').trim() }
}
