import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { createMemoryFile } from '../src/enforcement/memory.ts'
import { type Offline, releaseHost, restoreDefaults } from '../src/enforcement/offline.ts'
import { temporaryDir } from './harness.ts'
import { createWindowsHost } from './windows-host.ts'

const stick = storageStick({ portPath: '1-2' })

/** An armed Windows host whose agent ended. */
const ended = (failsClosed = false) => {
  const host = createWindowsHost()
  const before = host.everything()
  host.arm([])
  host.plug(stick)
  host.settle()
  host.enforcer().stop()
  const stateDir = temporaryDir()
  createMemoryFile(stateDir).save({ ...host.memory(), failsClosed })
  const offline = {
    stateDir,
    system: { processes: { startTime: () => '', boot: () => '' } },
    // The file is of another boot. The registry values outlast a restart.
    platform: { ...host.platform(), boot: { id: 'another boot', elapsed: () => 0 } },
  } as unknown as Offline
  return { host, before, stateDir, offline }
}

describe('a Windows host whose agent does not run', () => {
  it('is freed by release, even after a restart', async () => {
    const { host, before, offline, stateDir } = ended()
    expect(host.machine.works('1-2')).toBe(false)
    expect(await releaseHost(offline)).toBe('The host is free.')
    expect(host.everything()).toEqual(before)
    expect(host.machine.works('1-2')).toBe(true)
    expect(createMemoryFile(stateDir).load()).toMatchObject({ mode: 'Free', defaults: {} })
  })

  it('is freed by release without the files of the agent', async () => {
    const { host, before, offline, stateDir } = ended()
    rmSync(join(stateDir, 'enforcement.json'))
    expect(await releaseHost(offline)).toBe('The host is free.')
    expect(host.everything()).toEqual(before)
    expect(await releaseHost(offline)).toBe('This host is not armed.')
  })

  it('gets its registry back by restore, unless it fails closed', () => {
    const open = ended()
    expect(restoreDefaults(open.offline)).toContain('New devices work again')
    expect(open.host.everything()).toEqual(open.before)
    expect(createMemoryFile(open.stateDir).load()).toMatchObject({ mode: 'Armed', defaults: {} })
    const closed = ended(true)
    expect(restoreDefaults(closed.offline)).toContain('fails closed')
    expect(closed.host.gate().open()).toEqual([])
  })
})
