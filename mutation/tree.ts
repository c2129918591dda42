/** Creates a copy of the checkout whose sources may be changed. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { linkPackages } from '../rig/link-packages.ts'
import { root } from '../rig/root.ts'

const linked = ['build', '.node']

/** Copies every file under version control, with uncommitted changes, and links the packages. */
export const copyTree = (to: string): void => {
  rmSync(to, { recursive: true, force: true })
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    cpSync(join(root, file), join(to, file))
  }
  for (const name of linked) if (existsSync(join(root, name))) symlinkSync(join(root, name), join(to, name))
  linkPackages(join(root, 'node_modules'), join(to, 'node_modules'))
  linkPackages(join(root, 'cli', 'node_modules'), join(to, 'cli', 'node_modules'))
}
