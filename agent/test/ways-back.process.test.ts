import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostileStrings, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readIfThere } from '../src/files.ts'
import { rule, startHost } from './enforcing.ts'
import { createTree, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'
import { killAgent, runAgentCommand, spawnAgent } from './processes.ts'

const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })

/** An armed agent in a process of its own, with one blocked stick. */
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

// Each of these starts up to five processes; a loaded machine takes seconds for one.
describe('an agent that dies', { timeout: 90_000 }, () => {
  it('by kill -9 leaves a watchdog that gives the old defaults back; the next start goes on', async () => {
    const { peer, tree, args, all, agent, stateDir } = await armedProcess()
    expect(tree.read('usb1', 'authorized_default')).toBe('0')
    await killAgent(agent)
    await until('restored', () => tree.read('usb1', 'authorized_default') === '1', 30_000)
    expect(tree.isAuthorized('1-2')).toBe(false)
    await until('noted', () => readIfThere(join(stateDir, 'lock')) === undefined, 30_000)
    expect(runAgentCommand(['restore', ...args])).toEqual({ code: 0, output: 'Nothing to restore.\n' })
    const again = spawnAgent(all)
    await until('armed again', () => tree.read('usb1', 'authorized_default') === '0', 30_000)
    expect(runAgentCommand(['restore', ...args]).output).toContain('nothing to restore')
    expect(tree.read('usb1', 'authorized_default')).toBe('0')
    again.child.kill('SIGTERM')
    expect(await again.exit).toBe(0)
    expect(tree.read('usb1', 'authorized_default')).toBe('1')
    expect(tree.isAuthorized('1-2')).toBe(false)
    expect(peer.seen.violations).toEqual([])
  })

  it('has no watchdog left behind after an orderly end', async () => {
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
  it('frees a host through its running agent, which stays free and tells the server', async () => {
    const { peer, tree, args, agent } = await armedProcess()
    expect(runAgentCommand(['release', ...args])).toEqual({ code: 0, output: 'The host is free.\n' })
    expect([tree.read('usb1', 'authorized_default'), tree.isAuthorized('1-2')]).toEqual(['1', true])
    await until('told', () => peer.seen.enforcement.at(-1)?.mode === 'Free', 30_000)
    expect(peer.seen.enforcement.at(-1)?.reason).toContain('root')
    await killAgent(agent)
  })

  it('frees a host whose agent is gone; the next start tells the server', async () => {
    const { peer, tree, args, all, agent } = await armedProcess()
    agent.child.kill('SIGTERM')
    await agent.exit
    expect(tree.isAuthorized('1-2')).toBe(false)
    expect(runAgentCommand(['release', ...args])).toEqual({ code: 0, output: 'The host is free.\n' })
    expect([tree.read('usb1', 'authorized_default'), tree.isAuthorized('1-2')]).toEqual(['1', true])
    spawnAgent(all)
    await until('told', () => peer.seen.enforcement.at(-1)?.mode === 'Free', 30_000)
    expect(peer.seen.enforcement.at(-1)?.reason).toContain('root')
    expect(runAgentCommand(['release', '--state-dir', temporaryDir(), '--sysfs-root', tree.root]).output).toContain(
      'not armed',
    )
  })

  it('leaves what somebody else had de-authorised', async () => {
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

  it('gives every controller the value it had', async () => {
    const host = await startHost({ devices: [keyboard, storageStick({ portPath: '2-1' })] })
    host.tree.write('usb2', 'authorized_default', '2\n')
    host.tree.write('usb3', 'authorized_default', '0\n')
    await host.arm()
    const values = () => ['usb1', 'usb2', 'usb3'].map((name) => host.tree.read(name, 'authorized_default'))
    expect(values()).toEqual(['0', '0', '0'])
    // A controller that comes later, and one that somebody opens, are closed as well.
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
  it('makes old values of its controllers worthless; who was blocked is blocked again', async () => {
    const host = await startHost({ devices: [keyboard, stick] })
    const boot = (id: string) => {
      mkdirSync(join(host.procRoot, 'sys/kernel/random'), { recursive: true })
      writeFileSync(join(host.procRoot, 'sys/kernel/random/boot_id'), `${id}\n`)
    }
    await host.arm(true)
    expect(host.tree.isAuthorized('1-2')).toBe(false)
    const memory = readFileSync(host.path('enforcement.json'), 'utf8')
    await host.stop()
    // Killed instead of stopped, then booted by a kernel that starts with 2 and lets everything in.
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
  it('is told number, device, reason and whom to ask, in one message for many, and nothing of it is interpreted', async () => {
    const file = join(temporaryDir(), 'told')
    const publicDir = temporaryDir()
    const host = await startHost({
      devices: [keyboard],
      args: ['--notify-command', `tee -a ${file}`, '--public-dir', publicDir],
      rules: [rule({ effect: 'deny', vid: '0781', reason: 'Sticks stay at home.' })],
    })
    await host.arm()
    const said = () => readIfThere(file) ?? ''
    host.tree.plug(stick)
    host.tree.plug(hostileStrings('escape', { portPath: '1-3', vid: '1234' }))
    await until('told', () => said().includes('give the number'))
    await until('status', () => (readIfThere(host.path('enforcement.json')) ?? '').includes('1-3'))
    const number = /PC-[0-9A-Z]{6}/.exec(said())?.[0] ?? 'none'
    expect(said()).toContain('Ultra at port 1-2: Sticks stay at home.')
    expect(said()).toContain('the help desk, 4711')
    expect(said()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(said().match(/Portcullis blocked/g)).toHaveLength(1)
    const status = runAgentCommand(['status', '--state-dir', host.stateDir, '--sysfs-root', host.tree.root])
    expect(status.output).toMatch(/mode +Armed\n/)
    expect(status.output).toMatch(/grade +before-driver\n/)
    expect(status.output).toMatch(/policy +version 1\n/)
    expect(status.output).toMatch(/blocked +2\n/)
    expect(status.output).toContain(`${number}  Ultra at port 1-2`)
    expect(status.output).toContain('the help desk, 4711')
    // What everybody may read, and what somebody gets who may read nothing else.
    expect(statSync(join(publicDir, 'status')).mode & 0o777).toBe(0o644)
    expect(readFileSync(join(publicDir, 'status'), 'utf8')).toContain(`${number}  Ultra at port 1-2`)
    // The second message waits ten seconds; a restart is no news.
    host.tree.plug(storageStick({ portPath: '1-5', serial: 'fifth' }))
    await until('blocked', () => host.reported('1-5')?.enforced?.effect === 'block')
    expect(said()).not.toContain('1-5')
  })
})
