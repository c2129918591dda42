import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface BuildInfo {
  version: string
  /** `""` without a Git checkout or without git. */
  commit: string
  /** Date of the commit, otherwise of the package file. */
  buildDate: Date
}

/** Returns hash and date of the checkout's commit. Null without git. Uses no shell, and at most two seconds. */
const commitOf = (root: string): Promise<{ commit: string; buildDate: Date } | null> =>
  new Promise((resolve) => {
    execFile(
      'git',
      // The checkout may belong to another user than the server's. Only its own history is read.
      ['-c', `safe.directory=${root}`, '-C', root, 'log', '-1', '--format=%H %ct'],
      { timeout: 2_000, env: { PATH: '/usr/local/bin:/usr/bin:/bin', GIT_CEILING_DIRECTORIES: join(root, '..') } },
      (error, stdout) => {
        const match = /^([0-9a-f]{40}) (\d+)$/m.exec(stdout)
        const [, commit = '', seconds] = match ?? []
        resolve(error !== null || commit === '' ? null : { commit, buildDate: new Date(Number(seconds) * 1000) })
      },
    )
  })

const known = new Map<string, Promise<BuildInfo>>()

/** Returns the build of this process. A process never changes its build, so git runs once. */
export const readBuildInfo = (root: string): Promise<BuildInfo> => {
  const read = known.get(root) ?? readAgain(root)
  known.set(root, read)
  return read
}

const readAgain = async (root: string): Promise<BuildInfo> => {
  const file = join(root, 'package.json')
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string }
  const made = await commitOf(root)
  return made === null ? { version, commit: '', buildDate: (await stat(file)).mtime } : { version, ...made }
}
