import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unless } from '@portcullis/domain/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { remove } from '../proof/kit/harness.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const closed = mkdtempSync(join(tmpdir(), 'portcullis-closed-'))
chmodSync(closed, 0o700)
afterAll(() => remove(closed))

interface Refused {
  code: number | null
  text: string
  /** Time until the reason was printed. */
  ms: number
  /** Whether a process of the group remained. */
  isLeft: boolean
}

const start = (script: string, args: readonly string[], dataDir: string): Promise<Refused> =>
  new Promise((resolve) => {
    const startedAt = performance.now()
    const child = spawn(process.execPath, [join(root, script), ...args], {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', PORTCULLIS_DATA_DIR: dataDir, PORTCULLIS_PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that remaining processes are found.
      detached: true,
    })
    const said: Refused = { code: null, text: '', ms: Number.POSITIVE_INFINITY, isLeft: false }
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said.text += chunk.toString()
        if (said.text.includes('cannot enter')) said.ms = Math.min(said.ms, performance.now() - startedAt)
      })
    child.on('close', (code) => {
      try {
        process.kill(-(child.pid as number), 'SIGKILL')
        said.isLeft = true
      } catch {
        // No process of the group remains.
      }
      resolve({ ...said, code })
    })
  })

const whyNotRoot = process.getuid?.() === 0 ? null : 'only root runs the database as another user'

describe('a data directory that the database user cannot reach', unless(whyNotRoot), () => {
  it.each([
    ['npm start', 'scripts/bootstrap.mjs', ['start']],
    ['the server alone', 'server/src/entry/start.ts', []],
  ])('is refused by %s within one second, with the reason, and leaves no process', async (_what, script, args) => {
    const dataDir = join(closed, 'deeper', 'data')
    const tries: Refused[] = []
    // The machine may be busy, so the fastest of three runs counts.
    for (let i = 0; i < 3 && !tries.some(({ ms }) => ms < 1_000); i++) tries.push(await start(script, args, dataDir))
    for (const { code, text, isLeft } of tries) {
      expect([code, isLeft]).toEqual([1, false])
      expect(text).toContain(
        `who cannot enter ${closed}, which contains the data directory ${dataDir}. Run \`chmod o+x`,
      )
    }
    expect(Math.min(...tries.map(({ ms }) => ms))).toBeLessThan(1_000)
    expect(existsSync(join(closed, 'deeper'))).toBe(false)
  })
})
