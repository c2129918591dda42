import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostileStrings, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readIfThere } from '../src/files.ts'
import { currentBoot } from '../src/platform/linux/boot.ts'
import { rule, startHost } from './enforcing.ts'
import { createTree, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'
import { killAgent, runAgentCommand, spawnAgent } from './processes.ts'

const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })

/** Starts an armed agent in its own process, with one blocked stick. */
const armedProcess = async () => {
  const peer = await startPeer({ nextCheckInSeconds: 0.2 })
  onTestFinished(() => peer.stop())
  const tree = createTree([keyboard])
  const stateDir = temporaryDir()
  const args = ['--state-dir', stateDir, '--sysfs-root', tree.root]
  const all = ['--server', peer.url, '--token', peer.token, ...args]
  const agent = spawnAgent(all)
  await until('first check-in', () => peer.seen.checkIns.length > 0, 30_000)
  const id = peer.order('configure', { mode: 'Armed', applyToPresent: false })
  await until('armed', () => peer.seen.acks.some((ack) => ack.commandId === id), 30_000)
  tree.plug(stick)
  await until('blocked', () => peer.only().devices.get('1-2')?.enforced?.effect === 'block', 30_000)
  return { peer, tree, stateDir, args, all, agent }
}

// Each of these tests starts up to five processes. A loaded machine takes seconds for each.
describe('an agent that dies', { timeout: 90_000 }, () => {
  it('by kill -9 leaves a watchdog that restores the old defaults, and the next start arms the host again', async () => {
    const { peer, tree, args, all, agent, stateDir } = await armedProcess()
    expect(tree.read('usb1', 'authorized_default')).toBe('0')
    await killAgent(agent)
    await until('restored', () => tree.read('usb1', 'authorized_default') === '1', 30_000)
    expect(tree.isAuthorized('1-2')).toBe(false)
    await until('stored', () => readIfThere(join(stateDir, 'lock')) === undefined, 30_000)
    expect(runAgentCommand(['restore', ...args])).toEqual({ code: 0, output: 'Nothing to restore.\n' })
    const again = spawnAgent(all)
    await until('armed again', () => tree.read('usb1', 'authorized_default') === '0', 30_000)
    expect(runAgentCommand(['restore', ...args]).output).toContain('Nothing to restore')
    expect(tree.read('usb1', 'authorized_default')).toBe('0')
    again.child.kill('SIGTERM')
    expect(await again.exit).toBe(0)
    expect(tree.read('usb1', 'authorized_default')).toBe('1')
    expect(tree.isAuthorized('1-2')).toBe(false)
    expect(peer.seen.violations).toEqual([])
  })

  it('leaves no watchdog after an orderly stop', async () => {
    const { agent, stateDir } = await armedProcess()
    const watchdogs = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return readFileSync(join('/proc', pid, 'cmdline'), 'utf8').includes(`\0restore\0--state-dir\0${stateDir}\0`)
        } catch {
          return false
        }
      })
    expect(watchdogs()).toHaveLength(1)
    agent.child.kill('SIGTERM')
    await agent.exit
    await until('gone', () => watchdogs().length === 0, 30_000)
  })
})

describe('release', { timeout: 90_000 }, () => {
  it('frees a host through its running agent, which stays free and reports it', async () => {
    const { peer, tree, args, agent } = await armedProcess()
    expect(runAgentCommand(['release', ...args])).toEqual({ code: 0, output: 'The host is free.\n' })
    expect([tree.read('usb1', 'authorized_default'), tree.isAuthorized('1-2')]).toEqual(['1', true])
    await until('reported', () => peer.seen.enforcement.at(-1)?.mode === 'Free', 30_000)
    expect(peer.seen.enforcement.at(-1)?.reason).toContain('root')
    await killAgent(agent)
  })

  it('frees a host without a running agent, and the next start reports it', async () => {
    const { peer, tree, args, all, agent } = await armedProcess()
    agent.child.kill('SIGTERM')
    await agent.exit
    expect(tree.isAuthorized('1-2')).toBe(false)
    expect(runAgentCommand(['release', ...args])).toEqual({ code: 0, output: 'The host is free.\n' })
    expect([tree.read('usb1', 'authorized_default'), tree.isAuthorized('1-2')]).toEqual(['1', true])
    spawnAgent(all)
    await until('reported', () => peer.seen.enforcement.at(-1)?.mode === 'Free', 30_000)
    expect(peer.seen.enforcement.at(-1)?.reason).toContain('root')
    expect(runAgentCommand(['release', '--state-dir', temporaryDir(), '--sysfs-root', tree.root]).output).toContain(
      'not armed',
    )
  })

  it('does not open devices that were blocked before arming', async () => {
    const other = storageStick({ portPath: '1-4', authorized: false })
    const host = await startHost({ devices: [keyboard, other] })
    await host.free()
    expect(host.tree.isAuthorized('1-4')).toBe(false)
    await host.arm()
    host.tree.plug(stick)
    await until('blocked', () => host.reported('1-2')?.enforced?.effect === 'block')
    await host.free()
    expect([host.tree.isAuthorized('1-2'), host.tree.isAuthorized('1-4')]).toEqual([true, false])
  })

  it('restores the old value of every controller', async () => {
    const host = await startHost({ devices: [keyboard, storageStick({ portPath: '2-1' })] })
    host.tree.write('usb2', 'authorized_default', '2\n')
    host.tree.write('usb3', 'authorized_default', '0\n')
    await host.arm()
    const values = () => ['usb1', 'usb2', 'usb3'].map((name) => host.tree.read(name, 'authorized_default'))
    expect(values()).toEqual(['0', '0', '0'])
    // A later controller, and one that another program opens, are closed as well.
    host.tree.write('usb4', 'authorized_default', '1\n')
    host.tree.write('usb1', 'authorized_default', '1\n')
    await until('closed', () =>
      [...values(), host.tree.read('usb4', 'authorized_default')].every((value) => value === '0'),
    )
    await host.free()
    expect([...values(), host.tree.read('usb4', 'authorized_default')]).toEqual(['1', '2', '0', '1'])
  })
})

describe('another boot of the kernel', () => {
  it('invalidates the old values of its controllers, and blocked devices are blocked again', async () => {
    const host = await startHost({
      devices: [keyboard, stick],
      boot: (procRoot) => {
        const since = performance.now()
        return { ...currentBoot(procRoot), elapsed: () => Math.round(performance.now() - since) }
      },
    })
    const boot = (id: string) => {
      mkdirSync(join(host.procRoot, 'sys/kernel/random'), { recursive: true })
      writeFileSync(join(host.procRoot, 'sys/kernel/random/boot_id'), `${id}\n`)
    }
    await host.arm(true)
    expect(host.tree.isAuthorized('1-2')).toBe(false)
    const memory = readFileSync(host.path('enforcement.json'), 'utf8')
    await host.stop()
    // The agent is killed. The next kernel starts with the default 2 and authorises all devices.
    writeFileSync(host.path('enforcement.json'), memory)
    boot('another')
    host.tree.write('usb1', 'authorized_default', '2\n')
    host.tree.write('1-2', 'authorized', '1\n')
    host.begin()
    await until('blocked again', () => !host.tree.isAuthorized('1-2'))
    expect(host.tree.isAuthorized('1-1')).toBe(true)
    await host.free()
    expect(host.tree.read('usb1', 'authorized_default')).toBe('2')
  })
})

describe('the user of the host', () => {
  it('gets case number, device, reason and contact in one message for several devices, as plain text', async () => {
    const file = join(temporaryDir(), 'message')
    const publicDir = temporaryDir()
    const host = await startHost({
      devices: [keyboard],
      args: ['--notify-command', `tee -a ${file}`, '--public-dir', publicDir],
      rules: [rule({ effect: 'deny', vid: '0781', reason: 'Sticks stay at home.' })],
    })
    await host.arm()
    const message = () => readIfThere(file) ?? ''
    host.tree.plug(stick)
    host.tree.plug(hostileStrings('escape', { portPath: '1-3', vid: '1234' }))
    await until('reported', () => message().includes('give the case number'))
    await until('status', () => (readIfThere(host.path('enforcement.json')) ?? '').includes('1-3'))
    const number = /PC-[0-9A-Z]{6}/.exec(message())?.[0] ?? 'none'
    expect(message()).toContain('Ultra at port 1-2: Sticks stay at home.')
    expect(message()).toContain('the help desk, 4711')
    expect(message()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(message().match(/Portcullis blocked/g)).toHaveLength(1)
    const status = runAgentCommand(['status', '--state-dir', host.stateDir, '--sysfs-root', host.tree.root])
    expect(status.output).toMatch(/mode +Armed\n/)
    expect(status.output).toMatch(/grade +before-driver\n/)
    expect(status.output).toMatch(/policy +version 1\n/)
    expect(status.output).toMatch(/blocked +2\n/)
    expect(status.output).toContain(`${number}  Ultra at port 1-2`)
    expect(status.output).toContain('the help desk, 4711')
    // The public status, and the status for a user without access to the state directory.
    expect(statSync(join(publicDir, 'status')).mode & 0o777).toBe(0o644)
    expect(readFileSync(join(publicDir, 'status'), 'utf8')).toContain(`${number}  Ultra at port 1-2`)
    // The second message waits ten seconds, and a restart is not reported.
    host.tree.plug(storageStick({ portPath: '1-5', serial: 'fifth' }))
    await until('blocked', () => host.reported('1-5')?.enforced?.effect === 'block')
    expect(message()).not.toContain('1-5')
  })
})
