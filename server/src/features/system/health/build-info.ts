import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface BuildInfo {
  version: string
  /** `""` when the files are no checkout, or git is not there. */
  commit: string
  /** Date of the commit, else of the package file. */
  buildDate: Date
}

/** Hash and date of the checkout's commit; null without git. No shell, and two seconds at most. */
const commitOf = (root: string): Promise<{ commit: string; buildDate: Date } | null> =>
  new Promise((resolve) => {
    execFile(
      'git',
      // The checkout may belong to somebody else than who runs the server; only its own history is read.
      ['-c', `safe.directory=${root}`, '-C', root, 'log', '-1', '--format=%H %ct'],
      { timeout: 2_000, env: { PATH: '/usr/local/bin:/usr/bin:/bin', GIT_CEILING_DIRECTORIES: join(root, '..') } },
      (error, stdout) => {
        const match = /^([0-9a-f]{40}) (\d+)$/m.exec(stdout)
        resolve(
          error !== null || match === null
            ? null
            : { commit: match[1] as string, buildDate: new Date(Number(match[2]) * 1000) },
        )
      },
    )
  })

/** What this process was started from; read once. */
export const readBuildInfo = async (root: string): Promise<BuildInfo> => {
  const file = join(root, 'package.json')
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string }
  const known = await commitOf(root)
  return known === null ? { version, commit: '', buildDate: (await stat(file)).mtime } : { version, ...known }
}
