import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { launcherOf } from './packages-agent.ts'

const dir = mkdtempSync(join(tmpdir(), 'portcullis-launcher-'))
const [packaged, updated, launcher] = [join(dir, 'packaged'), join(dir, 'versions', 'agent'), join(dir, 'launcher')]
mkdirSync(join(dir, 'versions'))
writeFileSync(launcher, launcherOf(packaged, updated), { mode: 0o755 })
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Runs the launcher with an update that exits with this code; null: the package verifies no update. */
const run = (code: number | null, ...args: string[]) => {
  writeFileSync(
    packaged,
    `#!/bin/sh\nif [ "$1" = select ]; then ${code === null ? 'exit 1' : `echo "${updated}"; exit`}; fi\necho "packaged $*"\n`,
    { mode: 0o755 },
  )
  writeFileSync(updated, `#!/bin/sh\necho "updated $*"\nexit ${code ?? 0}\n`, { mode: 0o755 })
  const { stdout, status } = spawnSync(launcher, args, { encoding: 'utf8' })
  return { lines: stdout.trim().split('\n'), status }
}

describe('the launcher of the agent', () => {
  it.each([['status'], ['release'], ['restore'], ['run']])('runs the newest verified version for %s', (command) => {
    expect(run(0, command)).toEqual({ lines: [`updated ${command}`], status: 0 })
    expect(run(null, command)).toEqual({ lines: [`packaged ${command}`], status: 0 })
  })

  it('frees the host with the version of the package if the update fails', () => {
    expect(run(1, 'release', '--state-dir', '/x')).toEqual({
      lines: ['updated release --state-dir /x', 'packaged release --state-dir /x'],
      status: 0,
    })
    expect(run(139, 'status')).toEqual({ lines: ['updated status'], status: 139 })
  })
})
