/** Unpacks another release of the product from the history of the checkout. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from './database.ts'
import { fromRoot, root } from './root.ts'

const git = (...args: string[]): string =>
  execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** Links packages. Links to workspaces lead to the copy, because the original contract would be checked otherwise. */
const linkPackages = (from: string, to: string): void => {
  if (!existsSync(from)) return
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name === '@portcullis') {
      mkdirSync(join(to, name))
      for (const own of readdirSync(join(from, name))) symlinkSync(join(dirname(to), own), join(to, name, own))
    } else symlinkSync(join(from, name), join(to, name))
  }
}

/** Returns the previous release: the last tag, else the recorded one. Undefined if the checkout has no history. */
export const previousRelease = (): string | undefined => {
  for (const find of [
    () => git('describe', '--tags', '--abbrev=0'),
    () =>
      (JSON.parse(readFileSync(fromRoot('proof/failure/previous-release.json'), 'utf8')) as { commit: string }).commit,
  ])
    try {
      const name = find()
      git('cat-file', '-e', `${name}^{commit}`)
      return name
    } catch {
      // No tag exists yet, or the copy has no history.
    }
  return undefined
}

/** Unpacks a release into a separate directory. It runs on the packages of this checkout. */
export const unpackRelease = (name: string): { root: string; remove(): void } => {
  const folder = temporaryFolder('release')
  const archive = join(folder, 'release.tar')
  git('archive', '--output', archive, name)
  execFileSync('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
  rmSync(join(folder, 'build'), { recursive: true, force: true })
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  linkPackages(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const part of ['contract', 'domain', 'server', 'agent', 'poller', 'cli'])
    linkPackages(join(root, part, 'node_modules'), join(folder, part, 'node_modules'))
  if (existsSync(join(root, 'build'))) symlinkSync(join(root, 'build'), join(folder, 'build'))
  return { root: folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
