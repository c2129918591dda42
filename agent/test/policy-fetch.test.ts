import { agentPaths } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { rule, startHost } from './enforcing.ts'
import { until } from './harness.ts'

type Host = Awaited<ReturnType<typeof startHost>>

const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })
const sticks = rule({ id: 'sticks', effect: 'allow', kinds: ['Mass Storage'] })
const notFound = { kind: 'problem', status: 404, code: 'not_found' } as const

/** Starts an armed host with a stick that its policy allows. */
const armed = async (options: Parameters<typeof startHost>[0] = {}) => {
  const host = await startHost({ devices: [keyboard], rules: [sticks], ...options })
  await host.arm()
  host.tree.plug(stick)
  await until('allowed', () => host.reported('1-2')?.enforced?.effect === 'allow')
  return host
}
/** Publishes a version without a rule for the stick and with new knowledge. */
const publish = ({ peer }: Host) => {
  peer.policy.version++
  peer.policy.rules = []
  peer.policy.knowledge = JSON.stringify({ attackTools: [], genuine: [], version: peer.policy.version })
}
const has = (host: Host, version: number) =>
  until(`version ${version}`, () => host.peer.seen.enforcement.at(-1)?.policyVersion === version)

// Some retries wait half a second and two seconds, and a loaded machine is slow.
describe('a policy that is needed', { timeout: 60_000 }, () => {
  it('is requested until the host has it, although the server announces it once: missing knowledge, lost answers', async () => {
    const host = await armed()
    publish(host)
    host.peer.fail(host.peer.knowledgePath(), notFound, notFound)
    host.peer.fail(agentPaths.policy, { kind: 'lost-answer' }, { kind: 'garbage' }, { kind: 'reset' })
    host.peer.askForPolicy(true)
    await has(host, 2)
    await until('stick gone', () => !host.tree.isAuthorized('1-2'))
    expect(host.errors()).toContain('policy_fetch_failed')
  })

  it('is fetched after a failed command', async () => {
    const host = await armed()
    publish(host)
    host.peer.fail(host.peer.knowledgePath(), notFound)
    expect(await host.order('policy', { version: 2 })).toMatchObject({ outcome: 'failed' })
    await has(host, 2)
  })

  it('is fetched once after each start of an armed host, even without needPolicy, and never by a Free host', async () => {
    const host = await armed()
    publish(host)
    host.peer.fail(agentPaths.policy, { kind: 'lost-answer' }, { kind: 'hang' })
    const before = host.peer.seen.policies
    host.peer.askForPolicy(true)
    await until('answer formed', () => host.peer.seen.policies > before)
    await host.stop()
    host.peer.clearFaults()
    host.begin()
    await has(host, 2)
    await host.free()
    const fetched = host.peer.seen.policies
    await host.restart()
    await until('steady', () => (host.peer.seen.checkIns.at(-1)?.body.seq ?? 0) > 3)
    expect(host.peer.seen.policies).toBe(fetched)
  })

  it('is fetched again if the server announces it during a fetch', async () => {
    const host = await armed()
    publish(host)
    let release = () => {}
    const after = new Promise<void>((resolve) => {
      release = resolve
    })
    host.peer.fail(host.peer.knowledgePath(), { kind: 'late', after })
    host.peer.askForPolicy(true)
    await until('knowledge asked', () => host.peer.faultsLeft(host.peer.knowledgePath()) === 0)
    host.peer.policy.version++
    host.peer.askForPolicy(true)
    const said = host.peer.seen.checkIns.length
    await until('said', () => host.peer.seen.checkIns.length > said + 1)
    release()
    await has(host, 3)
  })
})

describe('a server that sends Retry-After', { timeout: 60_000 }, () => {
  const busy = (seconds: string, status = 503) =>
    ({ kind: 'problem', status, code: 'unavailable', headers: { 'retry-after': seconds } }) as const

  it.each([503, 429])('delays the command, which is then executed: %i', async (status) => {
    const host = await armed()
    publish(host)
    host.peer.fail(agentPaths.policy, busy('1', status))
    const id = host.peer.order('policy', { version: 2 })
    await until('refused', () => host.peer.faultsLeft(agentPaths.policy) === 0)
    const start = performance.now()
    await until('answered', () => host.peer.seen.acks.some((ack) => ack.commandId === id))
    // A timer may fire a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(980)
    expect(host.peer.seen.acks.at(-1)).toMatchObject({ outcome: 'confirmed' })
  })

  it('for a long time fails the command, and gets no requests until then', async () => {
    let skipped = 0
    const clock = { now: () => Date.now(), monotonic: () => performance.now() + skipped }
    const host = await armed({ clock })
    publish(host)
    host.peer.fail(agentPaths.policy, busy('300'), busy('300'))
    expect(await host.order('policy', { version: 2 })).toMatchObject({ outcome: 'failed' })
    const again = await host.order('policy', { version: 2 })
    expect(again).toMatchObject({ outcome: 'failed', message: expect.stringMatching(/another (300|29\d) s/) })
    expect(host.peer.faultsLeft(agentPaths.policy)).toBe(1)
    host.peer.clearFaults()
    // Less than the 15 minutes after which a session is renewed.
    skipped = 300_000
    expect(await host.order('policy', { version: 2 })).toMatchObject({ outcome: 'confirmed' })
  })
})

describe('the knowledge', { timeout: 60_000 }, () => {
  const sized = (bytes: number) => {
    const empty = JSON.stringify({ attackTools: [], genuine: [], more: '' })
    return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`)
  }

  it('is accepted up to 16 MiB', async () => {
    const host = await armed()
    publish(host)
    host.peer.policy.knowledge = sized(16 * 1024 * 1024)
    expect(await host.order('policy', { version: 2 })).toMatchObject({ outcome: 'confirmed' })
    publish(host)
    host.peer.policy.knowledge = sized(16 * 1024 * 1024 + 1)
    const ack = await host.order('policy', { version: 3 })
    expect(ack).toMatchObject({ outcome: 'failed', message: expect.stringContaining('too long') })
  })
})
