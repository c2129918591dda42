/** Creates copies of the checkout with deliberate defects. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from './database.ts'
import { root } from './root.ts'
import type { Sabotage } from './verdict.ts'

const copied = ['contract', 'domain', 'server', 'agent', 'poller', 'cli', 'knowledge', 'scripts']
/** The copy also contains the tests, so that they run against the broken source. */
const tests = ['bench', 'drill', 'e2e', 'gate', 'rig', 'vitest.config.ts', 'tsconfig.json']
/** Other files of a package of the server. */
const packaged = [
  ...['ops', 'LICENSE', 'THIRD-PARTY-LICENSES.md', 'CHANGELOG.md', 'SECURITY.md', 'sbom.cdx.json'],
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'package-lock.json', '.npmrc'],
]
const linked = ['build', 'console', 'docs', '.node']

/** Links packages. Links to workspaces lead to the copy, because the original contract would be checked otherwise. */
export const linkPackages = (from: string, to: string): void => {
  if (!existsSync(from)) return
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name === '@portcullis') {
      mkdirSync(join(to, name))
      for (const own of readdirSync(join(from, name))) symlinkSync(join(dirname(to), own), join(to, name, own))
    } else symlinkSync(join(from, name), join(to, name))
  }
}

/** Creates the broken copy, passes its root to `work`, and removes it. */
export const withSabotage = async <T>({ what, edits }: Sabotage, work: (root: string) => Promise<T>): Promise<T> => {
  const folder = temporaryFolder('broken')
  try {
    for (const name of [...copied, ...tests, ...packaged])
      cpSync(join(root, name), join(folder, name), {
        recursive: true,
        filter: (source) => !source.endsWith('/node_modules'),
      })
    for (const name of linked) if (existsSync(join(root, name))) symlinkSync(join(root, name), join(folder, name))
    cpSync(join(root, 'package.json'), join(folder, 'package.json'))
    linkPackages(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const name of copied) linkPackages(join(root, name, 'node_modules'), join(folder, name, 'node_modules'))
    for (const { file, find, replace } of edits) {
      const text = readFileSync(join(folder, file), 'utf8')
      if (text.split(find).length !== 2)
        throw new Error(`"${what}" cannot be applied: ${file} has ${text.split(find).length - 1} times: ${find}`)
      writeFileSync(
        join(folder, file),
        text.replace(find, () => replace),
      )
    }
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
