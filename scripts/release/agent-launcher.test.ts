import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

  it.skipIf(process.getuid?.() !== 0)('starts a service that ran again if the host cannot be enrolled', () => {
    const [bin, log] = [join(dir, 'bin'), join(dir, 'systemctl.log')]
    mkdirSync(bin)
    writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$*" >>${log}\n`, { mode: 0o755 })
    writeFileSync(packaged, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    writeFileSync(launcher, launcherOf(packaged, updated).replaceAll('/run/systemd/system', bin), { mode: 0o755 })
    const { status, stderr } = spawnSync(launcher, ['enrol', '--token-file', '/nowhere'], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    })
    expect([status, stderr]).toEqual([1, expect.stringContaining('cannot enrol the host')])
    expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual([
      'is-active --quiet portcullis-agent.service',
      'stop portcullis-agent.service',
      'start portcullis-agent.service',
    ])
  })
})
