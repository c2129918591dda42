import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainKeyboard, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { fingerprintOf, rule, startHost } from './enforcing.ts'
import { until } from './harness.ts'
import { runAgentCommand } from './processes.ts'

type Host = Awaited<ReturnType<typeof startHost>>

const keyboard = plainKeyboard({ portPath: '1-1' })
const ducky = rubberDucky({ portPath: '1-1' })
const tools = JSON.stringify({
  attackTools: [{ id: 'ducky', group: 'own', vid: '03EB', pid: '2401', name: 'Ducky', kind: 'k', source: 's' }],
  genuine: [],
})
const blocked = (host: Host, portPath: string) =>
  until(`${portPath} is blocked`, () => {
    const report = host.reported(portPath)
    return report?.authorized === false && report.enforced !== undefined
  })
const switches = (host: Host) =>
  ['authorized_default', 'interface_authorized_default'].map((name) => host.tree.read('usb1', name))

describe('the last keyboard', () => {
  it('is blocked if it is an attack tool, even if it was attached before the agent started', async () => {
    const host = await startHost({ devices: [ducky] })
    host.peer.policy.knowledge = tools
    await host.arm(true)
    await blocked(host, '1-1')
    expect(host.reported('1-1')?.enforced).toMatchObject({ effect: 'block', source: 'attack-tool' })
    expect(host.reported('1-1')?.enforced).not.toHaveProperty('guard')
    // Attached while the agent was stopped, so that it is present at the start.
    await host.stop()
    host.tree.write('1-1', 'authorized', '1\n')
    host.begin()
    await until('blocked again', () => !host.tree.isAuthorized('1-1'))
  })

  it('is blocked if a rule denies it', async () => {
    const deny = rule({ effect: 'deny', fingerprint: fingerprintOf(keyboard) })
    const host = await startHost({ devices: [keyboard], rules: [deny] })
    await host.arm(true)
    await blocked(host, '1-1')
    expect(host.reported('1-1')?.enforced).not.toHaveProperty('guard')
  })

  it('is exempt from the implicit block unless the signed policy says otherwise', async () => {
    const host = await startHost({ devices: [keyboard] })
    await host.arm(true)
    await until('reported', () => host.reported('1-1')?.enforced?.guard === 'last-keyboard')
    host.peer.policy.options = { keepsLastKeyboard: false, failsClosed: false }
    await host.change([])
    await blocked(host, '1-1')
  })
})

describe('a host that fails closed', () => {
  const failClosed = { keepsLastKeyboard: true, failsClosed: true }

  it('blocks new devices after a stop and after a crash, until root releases it', async () => {
    const host = await startHost({ devices: [keyboard] })
    host.peer.policy.options = failClosed
    await host.arm()
    const armed = readFileSync(host.path('enforcement.json'), 'utf8')
    await host.stop()
    expect(switches(host)).toEqual(['0', '0'])
    // The watchdog and the unit run `restore` after a crash.
    writeFileSync(host.path('enforcement.json'), armed)
    const where = ['--state-dir', host.stateDir, '--sysfs-root', host.tree.root, '--proc-root', host.procRoot]
    const restored = runAgentCommand(['restore', ...where])
    expect([restored.code, restored.output]).toEqual([0, expect.stringContaining('fails closed')])
    expect(switches(host)).toEqual(['0', '0'])
    host.tree.plug(storageStick({ portPath: '1-2' }))
    expect(host.tree.isAuthorized('1-2')).toBe(false)
    expect(runAgentCommand(['release', ...where])).toEqual({ code: 0, output: 'The host is free.\n' })
    expect([...switches(host), host.tree.isAuthorized('1-2')]).toEqual(['1', '1', true])
  })

  it('opens when it is freed, or when the policy no longer fails closed', async () => {
    const host = await startHost({ devices: [keyboard] })
    host.peer.policy.options = failClosed
    await host.arm()
    await host.free()
    expect(switches(host)).toEqual(['1', '1'])
    await host.arm()
    host.peer.policy.options = undefined
    await host.change([])
    await host.stop()
    expect(switches(host)).toEqual(['1', '1'])
  })
})

describe('a host that also runs USBGuard', () => {
  const file = (root: string, path: string, content: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }

  it.each([
    ['runs', (host: Host) => file(host.procRoot, '4711/comm', 'usbguard-daemon\n'), 'USBGuard is running on this host'],
    [
      'is configured',
      (host: Host) =>
        file(
          host.etcRoot,
          'usbguard/usbguard-daemon.conf',
          'RuleFile=/etc/usbguard/rules.conf\nImplicitPolicyTarget=block\n',
        ),
      'USBGuard is configured on this host',
    ],
  ])('that %s is not armed, and reports why', async (_how, install, reason) => {
    const host = await startHost({ devices: [keyboard] })
    install(host)
    const ack = await host.arm()
    expect(ack).toMatchObject({ outcome: 'failed', message: expect.stringContaining(reason) })
    expect(switches(host)).toEqual(['1', '1'])
    await host.restart()
    const facts = () => host.peer.seen.checkIns.flatMap(({ body }) => body.facts ?? []).at(-1)
    await until('reported', () => facts()?.enforcementReason !== undefined)
    expect(facts()).toMatchObject({
      enforcement: 'observe',
      enforcementReason: expect.stringContaining(reason),
    })
  })
})
