import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import type { Secret } from '@portcullis/platform/server/secret.ts'

/** Priority of the temporary database: below that of the server. */
const background = 10

export interface DrillOptions {
  /** Entry of the server that restores a file into a temporary database. */
  entry: string
  /** Folder for the temporary database. */
  dir: string
}

export interface Drilled {
  tables: number
  rows: number
}

/** Restores a backup into a temporary database in its own process, and compares each table. */
export const createDrill =
  ({ entry, dir }: DrillOptions) =>
  async (file: string, passphrase: Secret | null, signal: AbortSignal): Promise<Drilled> => {
    const args = ['--file', file, '--verify', '--json', ...(passphrase === null ? [] : ['--passphrase-file', '-'])]
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', entry, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // The settings of the server must not lead to its own database.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', TMPDIR: dir },
      signal,
      killSignal: 'SIGTERM',
    })
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (child.pid !== undefined)
      try {
        setPriority(child.pid, background)
      } catch {
        // It has ended already.
      }
    child.stdin.on('error', () => {})
    child.stdin.end(passphrase?.reveal() ?? '')
    const [output, problem, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
    if (code !== 0)
      throw new Error(problem.trim().split('\n').at(-1)?.slice(0, 300) || `the restore ended with code ${code}`)
    const { tables, rows } = JSON.parse(output) as Drilled
    return { tables, rows }
  }
