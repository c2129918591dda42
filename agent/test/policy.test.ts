import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { agentPaths, PolicyPayload } from '@portcullis/contract/agent-protocol.ts'
import { hub, plainKeyboard, plainMouse, storageStick } from '@portcullis/domain/testing'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../src/enforcement/parse-policy.ts'
import { readIfThere } from '../src/files.ts'
import { rule, startHost } from './enforcing.ts'
import { startAgent, statusOf, until } from './harness.ts'

const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })
const mouse = plainMouse({ portPath: '1-3' })
const sticks = rule({ id: 'sticks', effect: 'allow', kinds: ['Mass Storage'] })

type Host = Awaited<ReturnType<typeof startHost>>
const waitForReport = (host: Host, portPath: string, isAuthorized: boolean) =>
  until(`${portPath} ${isAuthorized}`, () => {
    const report = host.reported(portPath)
    return report?.authorized === isAuthorized && report.enforced !== undefined
  })

/** Waits until all attached devices are evaluated: attaches a hub, which passes without a rule and is evaluated last. */
const allEvaluated = async (host: Host) => {
  host.tree.plug(hub({ portPath: '1-9' }))
  await until('all evaluated', () => host.tree.isAuthorized('1-9'))
}

describe('a policy', () => {
  it.each([
    ['signed by another key', (host: Host) => host.peer.signAs(generateKeyPairSync('ed25519').privateKey)],
    ['for another agent', (host: Host) => host.peer.alter({ agentId: 'somebody' })],
    ['for another request', (host: Host) => host.peer.alter({ nonce: 'a'.repeat(32) })],
    [
      'of another shape',
      (host: Host) => host.peer.alter({ rules: [{ id: 'x', effect: 'allow', level: 'global', vid: 'zz' }] }),
    ],
    ['with a wrong digest of its knowledge', (host: Host) => host.peer.alter({ knowledgeHash: '0'.repeat(64) })],
  ])('%s is refused, and the host is not armed and keeps its previous policy', async (_, forge) => {
    const host = await startHost({ devices: [keyboard], rules: [sticks] })
    forge(host)
    const ack = await host.arm()
    expect(ack?.outcome).toBe('failed')
    expect(ack?.message).toMatch(/policy|knowledge/)
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
    host.peer.policy.forge = (signed) => signed
    expect(await host.arm()).toMatchObject({ outcome: 'confirmed' })
    forge(host)
    host.peer.policy.version++
    expect((await host.order('policy', { version: 2 }))?.outcome).toBe('failed')
    host.tree.plug(stick)
    await waitForReport(host, '1-2', true)
    expect(host.reported('1-2')?.enforced).toMatchObject({ ruleId: 'sticks', policyVersion: 1 })
  })

  it('is fetched and applied after needPolicy', async () => {
    const host = await startHost({ devices: [keyboard], rules: [sticks] })
    await host.arm()
    host.tree.plug(stick)
    await waitForReport(host, '1-2', true)
    Object.assign(host.peer.policy, { version: 7, rules: [] })
    host.peer.askForPolicy()
    await waitForReport(host, '1-2', false)
    await until('version reported', () => host.peer.seen.enforcement.at(-1)?.policyVersion === 7)
  })

  it('stays in force without the server and over a restart, and its grants expire on time', async () => {
    let skipped = 0
    const clock = { now: () => Date.now() + skipped, monotonic: () => performance.now() + skipped }
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const host = await startHost({
      clock,
      devices: [keyboard],
      rules: [rule({ effect: 'allow', level: 'grant', kinds: ['Mass Storage'], expiresAt })],
    })
    await host.arm()
    host.peer.fail(agentPaths.session, ...Array.from({ length: 10_000 }, () => ({ kind: 'reset' as const })))
    host.peer.fail(agentPaths.checkIn, ...Array.from({ length: 10_000 }, () => ({ kind: 'reset' as const })))
    host.tree.plug(stick)
    host.tree.plug(mouse)
    await until('granted', () => host.tree.isAuthorized('1-2'))
    await host.stop()
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
    host.begin()
    await until('armed again', () => host.tree.read('usb1', 'authorized_default') === '0')
    expect(host.tree.isAuthorized('1-2')).toBe(true)
    expect(host.tree.isAuthorized('1-3')).toBe(false)
    skipped = 3_600_001
    await until('grant ended', () => !host.tree.isAuthorized('1-2'))
    host.tree.unplug('1-2')
    host.tree.plug(stick)
    host.tree.plug(storageStick({ portPath: '1-4' }))
    await allEvaluated(host)
    expect([host.tree.isAuthorized('1-2'), host.tree.isAuthorized('1-4')]).toEqual([false, false])
  })

  it.each([
    ['forged', 'policy.json', (text: string) => text.replace('sticks', 'stocks')],
    ['cut', 'policy.json', (text: string) => text.slice(0, 40)],
    ['gone', 'knowledge.json', () => ''],
  ])(
    'file that is %s is refused: the kernel keeps its state, and the next policy is fetched',
    async (_, name, damage) => {
      const host = await startHost({ devices: [keyboard], rules: [sticks] })
      await host.arm()
      host.tree.plug(stick)
      host.tree.plug(mouse)
      await waitForReport(host, '1-2', true)
      await host.stop()
      writeFileSync(host.path(name), damage(readFileSync(host.path(name), 'utf8')))
      host.peer.fail(agentPaths.policy, { kind: 'problem', status: 404, code: 'not_found' })
      const before = host.peer.seen.policies
      host.begin()
      await until('refusal reported', () => host.errors().includes('policy_refused'))
      expect(host.tree.read('usb1', 'authorized_default')).toBe('0')
      expect([host.tree.isAuthorized('1-2'), host.tree.isAuthorized('1-3')]).toEqual([true, false])
      await until('fetched', () => host.peer.seen.policies > before)
      host.tree.plug(storageStick({ portPath: '1-4' }))
      await waitForReport(host, '1-4', true)
      expect(host.tree.isAuthorized('1-3')).toBe(false)
    },
  )

  it('is parsed exactly as the contract defines it', () => {
    const good = {
      kind: 'policy',
      agentId: 'a',
      nonce: 'a'.repeat(22),
      version: 1,
      issuedAt: '2026-11-21T14:00:00.000Z',
      rules: [rule({ effect: 'allow', vid: '0781', kinds: ['Mouse'], expiresAt: '2026-11-21T14:00:00Z', reason: 'r' })],
      knowledgeHash: '0'.repeat(64),
      contact: '',
    }
    const [first] = good.rules
    const cases: unknown[] = [good, null, [], 'x', { ...good, more: 1 }]
    for (const accepted of [[], ['a'.repeat(32)], ['x', 'x'.repeat(129)], [1], null, 'a', new Array(1_001).fill('a')])
      cases.push({ ...good, accepted })
    for (const key of Object.keys(good)) {
      cases.push(Object.fromEntries(Object.entries(good).filter(([name]) => name !== key)))
      for (const value of [null, 1.5, -1, '', 'x'.repeat(500), [], {}, true, 'F'.repeat(64)])
        cases.push({ ...good, [key]: value })
    }
    for (const key of [
      'id',
      'effect',
      'level',
      'vid',
      'pid',
      'serial',
      'kinds',
      'fingerprint',
      'expiresAt',
      'overrideAttackTool',
      'reason',
      'other',
    ])
      for (const value of [
        null,
        1,
        '',
        'x'.repeat(300),
        'x',
        [],
        ['Mouse'],
        ['x'],
        true,
        '0781',
        'a'.repeat(32),
        'tag',
        'deny',
        '\u{1f600}'.repeat(200),
        '\u{1f600}'.repeat(256),
        '2026-11-21',
      ])
        cases.push({ ...good, rules: [{ ...first, [key]: value }] })
    let accepted = 0
    for (const value of cases) {
      let isTaken = true
      try {
        parsePolicy(JSON.stringify(value))
        accepted++
      } catch {
        isTaken = false
      }
      expect([value, isTaken]).toEqual([value, Value.Check(PolicyPayload, value)])
    }
    expect(accepted).toBeGreaterThan(10)
    expect(accepted).toBeLessThan(cases.length / 2)
  })
})

describe('commands', () => {
  it('do not arm a host if forged, foreign, expired or replayed', async () => {
    const host = await startHost({ devices: [keyboard] })
    const agentId = host.peer.only().id
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const arm = { kind: 'configure', mode: 'Armed', applyToPresent: false, agentId, expiresAt }
    await host.order('policy', { version: 1 })
    host.peer.command({ ...arm, id: 'forged', counter: 90 }, generateKeyPairSync('ed25519').privateKey)
    host.peer.command({ ...arm, id: 'foreign', counter: 91, agentId: 'somebody' })
    host.peer.command({ ...arm, id: 'replayed', counter: 1 })
    host.peer.command({ ...arm, id: 'late', counter: 50, expiresAt: new Date(0).toISOString() })
    await until('late one answered', () => host.peer.seen.acks.some((ack) => ack.commandId === 'late'))
    await until('three refused', () => host.errors().filter((code) => code === 'command_refused').length >= 3)
    expect(host.peer.seen.acks.filter((ack) => ['forged', 'foreign', 'replayed'].includes(ack.commandId))).toEqual([])
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
    expect(host.peer.seen.enforcement.map(({ mode }) => mode)).not.toContain('Armed')
  })

  it('are executed once: a repeated delivery gets the same answer, and a start resumes unanswered ones', async () => {
    const host = await startHost({ devices: [keyboard], rules: [sticks] })
    host.peer.fail(agentPaths.policy, { kind: 'hang' })
    const id = host.peer.order('configure', { mode: 'Armed', applyToPresent: false })
    await until('asked', () => host.peer.faultsLeft(agentPaths.policy) === 0)
    expect(readIfThere(host.path('commands.json'))).toContain(id)
    await host.stop()
    host.begin()
    await until('answered', () => host.peer.seen.acks.some((ack) => ack.commandId === id))
    expect(host.peer.seen.acks.find((ack) => ack.commandId === id)).toMatchObject({ outcome: 'confirmed' })
    host.peer.seen.acks.length = 0
    await until('answered again', () => host.peer.seen.acks.some((ack) => ack.commandId === id))
    expect(host.peer.seen.policies).toBe(1)
  })

  it('free a host without waiting for transfers', async () => {
    const host = await startHost({ devices: [keyboard], rules: [sticks] })
    await host.arm()
    host.peer.fail(`${agentPaths.debugLogs}/order-2.`, { kind: 'hang' })
    expect(host.peer.order('collect-logs')).toBe('order-2.')
    expect(await host.free()).toMatchObject({ outcome: 'confirmed' })
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
  })

  it('are not executed if they expire before the next start', async () => {
    let skipped = 0
    const clock = { now: () => Date.now() + skipped, monotonic: () => performance.now() + skipped }
    const host = await startHost({ clock, devices: [keyboard] })
    host.peer.fail(agentPaths.policy, { kind: 'hang' })
    const id = host.peer.order('configure', { mode: 'Armed', applyToPresent: false })
    await until('pending', () => readIfThere(host.path('commands.json'))?.includes(id) === true)
    await host.stop()
    skipped = 61_000
    host.begin()
    await until('answered', () => host.peer.seen.acks.some((ack) => ack.commandId === id))
    expect(host.peer.seen.acks.at(-1)).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('expired before'),
    })
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
  })

  it('of an old identity are not executed under the next one, which has its own counter', async () => {
    const host = await startHost({ devices: [keyboard] })
    host.peer.fail(agentPaths.policy, { kind: 'hang' })
    const id = host.peer.order('configure', { mode: 'Armed', applyToPresent: false })
    await until('pending', () => readIfThere(host.path('commands.json'))?.includes(id) === true)
    await host.stop()
    host.peer.clearFaults()
    host.peer.only().revoked = true
    host.begin()
    expect(await host.ended()).toMatchObject({ code: 3 })
    host.peer.forget()
    host.peer.useToken('pce_2_fresh')
    startAgent(host.args.map((arg) => (arg === host.peer.token ? 'pce_2_fresh' : arg)))
    await until('enrolled again', () => host.peer.agents.size === 1)
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const { id: agentId } = host.peer.only()
    host.peer.command({ id: 'first', agentId, kind: 'policy', version: 1, counter: 1, expiresAt })
    await until('answered', () => host.peer.seen.acks.some((ack) => ack.commandId === 'first'))
    expect(host.peer.seen.acks).toEqual([{ commandId: 'first', outcome: 'confirmed', message: '' }])
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
  })

  it('collect logs without secrets', async () => {
    const host = await startHost({ devices: [keyboard], rules: [sticks] })
    await host.arm()
    expect(await host.order('collect-logs')).toMatchObject({ outcome: 'confirmed' })
    const [gzip] = host.peer.seen.logs.values()
    const text = gunzipSync(gzip ?? Buffer.alloc(0)).toString()
    expect(text).toContain('==> agent.log <==')
    expect(text).toContain('"host_armed"')
    expect(text).toContain('"mode": "Armed"')
    const key = readFileSync(host.path('key.pem'), 'utf8').split('\n')[1] ?? ''
    for (const secret of [host.peer.token, key, ...host.peer.tokens()]) expect(text.includes(secret)).toBe(false)
    expect(host.peer.tokens().length).toBeGreaterThan(0)
  })
})

describe('arming without contact', () => {
  /** Starts a host that gets this order, but cannot reach the server after it fetched the policy. */
  const cutOff = async (order: Record<string, unknown>) => {
    const time = { skipped: 0 }
    const clock = { now: () => Date.now() + time.skipped, monotonic: () => performance.now() + time.skipped }
    const host = await startHost({ clock, devices: [keyboard] })
    host.peer.order('configure', { mode: 'Armed', applyToPresent: true, ...order })
    host.peer.cutAfterPolicy(() => Array.from({ length: 10_000 }, () => ({ kind: 'reset' as const })))
    await until('armed', () => host.tree.read('usb1', 'authorized_default') === '0')
    host.tree.plug(stick)
    return { host, time }
  }

  it('ends after the time in the order, even over a restart, and reports why', async () => {
    const { host, time } = await cutOff({ revertMinutes: 30 })
    expect(statusOf(host.args)).toContain('otherwise the host frees itself')
    await host.stop()
    time.skipped = 29 * 60_000
    host.begin()
    await until('armed again', () => host.tree.read('usb1', 'authorized_default') === '0')
    expect(host.tree.isAuthorized('1-2')).toBe(false)
    time.skipped = 30 * 60_000 + 1000
    await until('reverted', () => host.tree.read('usb1', 'authorized_default') === '1')
    expect(host.tree.isAuthorized('1-2')).toBe(true)
    host.peer.clearFaults()
    await until('reported', () => (host.peer.seen.enforcement.at(-1)?.reason ?? '') !== '')
    expect(host.peer.seen.enforcement.at(-1)).toMatchObject({
      mode: 'Free',
      reason: expect.stringContaining('as ordered'),
    })
  })

  it.each([
    ['sets no time', {}],
    ['sets 0 minutes', { revertMinutes: 0 }],
  ])('does not end if the order %s', async (_, order) => {
    const { host, time } = await cutOff(order)
    for (const days of [1, 30]) {
      time.skipped = days * 86_400_000
      host.tree.plug(hub({ portPath: `1-${7 + (days % 2)}` }))
      await until('evaluated', () => host.tree.isAuthorized(`1-${7 + (days % 2)}`))
      await host.stop()
      host.begin()
      await until('armed again', () => host.tree.read('usb1', 'authorized_default') === '0')
    }
    expect(host.tree.isAuthorized('1-2')).toBe(false)
    host.peer.clearFaults()
    await until('reported', () => host.peer.seen.enforcement.at(-1)?.mode === 'Armed')
    expect(host.errors()).not.toContain('reverted_to_free')
  })

  it.each([-1, 1_441, 2.5, '10'])('is refused with the invalid time %j', async (revertMinutes) => {
    const host = await startHost({ devices: [keyboard] })
    expect(await host.order('configure', { mode: 'Armed', applyToPresent: true, revertMinutes })).toMatchObject({
      outcome: 'failed',
    })
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
  })

  it('does not end after a later outage of the server', async () => {
    let skipped = 0
    const clock = { now: () => Date.now() + skipped, monotonic: () => performance.now() + skipped }
    const host = await startHost({ clock, devices: [keyboard] })
    await host.arm()
    await until('reported', () => host.peer.seen.enforcement.at(-1)?.mode === 'Armed')
    await until('contact stored', () =>
      readFileSync(host.path('enforcement.json'), 'utf8').includes('"contactBy": null'),
    )
    await host.peer.stop()
    skipped = 86_400_000
    host.tree.plug(stick)
    await allEvaluated(host)
    expect(host.tree.read('usb1', 'authorized_default')).toBe('0')
    expect(host.tree.isAuthorized('1-2')).toBe(false)
    await host.peer.resume()
  })
})

describe('a damaged memory', () => {
  it('neither frees an armed host nor arms a Free one', async () => {
    const host = await startHost({ devices: [keyboard], rules: [sticks] })
    await host.arm()
    await host.stop()
    writeFileSync(host.path('enforcement.json'), '{"mode":"Fr')
    host.tree.write('usb1', 'authorized_default', '0\n')
    host.begin()
    await until('reported', () => host.errors().includes('enforcement_file_damaged'))
    expect(host.peer.seen.enforcement.at(-1)?.mode).toBe('Armed')
    await host.free()
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
    await host.stop()
    writeFileSync(host.path('enforcement.json'), 'x')
    rmSync(host.path('policy.json'))
    const before = host.peer.seen.enforcement.length
    host.begin()
    await until('reported again', () => host.peer.seen.enforcement.length > before)
    expect(host.peer.seen.enforcement.at(-1)?.mode).toBe('Free')
  })
})
