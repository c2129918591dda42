import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { agentPaths } from '@portcullis/contract/agent-protocol.ts'
import { hostileStrings, hostileTexts, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AgentExit } from '../src/exit.ts'
import { createTree, startAgent, temporaryDir, until } from './harness.ts'
import { type PeerOptions, startPeer } from './peer.ts'

const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })

const peerFor = async (options: PeerOptions = {}) => {
  const peer = await startPeer(options)
  onTestFinished(async () => {
    await peer.stop()
    expect(peer.seen.violations).toEqual([])
  })
  return peer
}

const setUp = async (options: PeerOptions = {}, devices = [keyboard]) => {
  const peer = await peerFor(options)
  const tree = createTree(devices)
  const stateDir = temporaryDir()
  const args = ['--server', peer.url, '--token', peer.token, '--state-dir', stateDir, '--sysfs-root', tree.root]
  return { peer, tree, stateDir, args }
}

const bodies = (peer: Awaited<ReturnType<typeof startPeer>>) => peer.seen.checkIns.map((checkIn) => checkIn.body)

describe('enrolment', () => {
  it('opens a session and sends facts and the full inventory once', async () => {
    const { peer, args, stateDir } = await setUp()
    expect(await startAgent([...args, '--once']).done).toBeUndefined()
    const [first, ...more] = bodies(peer)
    expect(more).toEqual([])
    expect(first).toMatchObject({ seq: 1, facts: { agentVersion: '0.0.1-test', enforcement: 'before-driver' } })
    expect(first?.inventory?.map((device) => device.portPath)).toEqual(['1-1'])
    expect(first?.facts?.address).toBe('127.0.0.1')
    expect(statSync(stateDir).mode & 0o777).toBe(0o700)
    expect(statSync(join(stateDir, 'key.pem')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(stateDir, 'agent.log'), 'utf8')).not.toContain(peer.token)
  })

  it('keeps the identity over restarts and ignores an unneeded token', async () => {
    const { peer, args } = await setUp()
    await startAgent([...args, '--once']).done
    await startAgent([...args.map((arg) => (arg === peer.token ? 'pce_2_other' : arg)), '--once']).done
    expect(peer.seen.enrols).toHaveLength(1)
    expect(new Set(bodies(peer).map((body) => body.bootId)).size).toBe(2)
    expect(bodies(peer).map((body) => body.seq)).toEqual([1, 1])
  })

  it('moves to the server of a fresh token with a new key', async () => {
    const { peer, args, stateDir } = await setUp({ token: 'pce_1_one' })
    await startAgent([...args, '--once']).done
    const other = await peerFor({ token: 'pce_2_two' })
    const moved = ['--server', other.url, '--token', other.token, '--state-dir', stateDir, ...args.slice(-2), '--once']
    expect(await startAgent(moved).done).toBeUndefined()
    expect([peer.seen.enrols.length, other.seen.enrols.length]).toEqual([1, 1])
    expect(other.seen.enrols[0]?.publicKey).not.toBe(peer.seen.enrols[0]?.publicKey)
    expect(bodies(other)[0]?.inventory).toHaveLength(1)
  })

  it('keeps its identity if it cannot move, and then moves with a valid token', async () => {
    const { peer, args, stateDir } = await setUp({ token: 'pce_1_one' })
    await startAgent([...args, '--once']).done
    const other = await peerFor({ token: 'pce_2_two' })
    const move = (token: string) =>
      startAgent(['--server', other.url, '--token', token, '--state-dir', stateDir, ...args.slice(-2), '--once']).done
    expect(await move('pce_2_wrong')).toMatchObject({ code: 2 })
    await startAgent([...args, '--once']).done
    expect([peer.seen.enrols.length, bodies(peer).length, bodies(other).length]).toEqual([1, 2, 0])
    // The service, which has the same settings at each start.
    const service = startAgent([
      '--server',
      other.url,
      '--token',
      'pce_2_wrong',
      '--state-dir',
      stateDir,
      ...args.slice(-2),
    ])
    await until('a check-in at the old server', () => bodies(peer).length > 2)
    await service.stop()
    expect(await move('pce_2_two')).toBeUndefined()
    expect(bodies(other)).toHaveLength(1)
    expect(other.agents.size).toBe(1)
    expect(existsSync(join(stateDir, 'next'))).toBe(false)
  })

  it('exits with 2 if the token is refused', async () => {
    const { args } = await setUp({ token: 'pce_1_right' })
    const error = await startAgent(args.map((arg) => (arg === 'pce_1_right' ? 'pce_1_wrong' : arg))).done
    expect(error).toBeInstanceOf(AgentExit)
    expect(error).toMatchObject({ code: 2 })
  })

  it('repeats a lost enrolment with the same key, so that the server recognises the host', async () => {
    const { peer, args } = await setUp()
    peer.fail(
      agentPaths.enrol,
      { kind: 'lost-answer' },
      { kind: 'problem', status: 503, code: 'unavailable' },
      { kind: 'garbage' },
    )
    await startAgent([...args, '--once']).done
    expect(new Set(peer.seen.enrols.map((enrol) => enrol.publicKey)).size).toBe(1)
    expect(peer.agents.size).toBe(1)
  })

  it('rejects unencrypted HTTP to another machine, a missing token and a second agent with the same state', async () => {
    const { args, stateDir } = await setUp()
    expect(
      await startAgent(['--server', 'http://192.0.2.1', '--token', 'x', '--state-dir', stateDir]).done,
    ).toMatchObject({ code: 1 })
    expect(await startAgent(['--server', 'http://127.0.0.1:1', '--state-dir', stateDir]).done).toMatchObject({
      code: 1,
    })
    expect(existsSync(join(stateDir, 'lock'))).toBe(false)
    startAgent(args)
    expect(await startAgent(args).done).toMatchObject({ code: 1, message: expect.stringContaining('already uses') })
  })
})

describe('watching', () => {
  it('reports attachments, changes and removals in order, each once', async () => {
    const { peer, tree, args } = await setUp()
    startAgent(args)
    await until('first check-in', () => bodies(peer).length === 1)
    tree.plug(stick)
    await until('attached', () => peer.seen.changes.length === 1)
    tree.write('1-2', 'product', 'Another name\n')
    await until('changed', () => peer.seen.changes.length === 2)
    tree.unplug('1-2')
    await until('removed', () => peer.seen.changes.length === 3)
    expect(peer.seen.changes.map((change) => change.op)).toEqual(['attached', 'changed', 'removed'])
    expect(peer.seen.changes[1]).toMatchObject({ device: { product: 'Another name' } })
    // All hashes matched; otherwise the server would have requested the inventory again.
    expect(bodies(peer).filter((body) => body.inventory)).toHaveLength(1)
    expect(
      bodies(peer)
        .slice(1)
        .some((body) => body.facts),
    ).toBe(false)
  })

  it('reports a replug at the same port as removal and attachment, even of the same device', async () => {
    const { peer, tree, args } = await setUp({}, [keyboard, stick])
    startAgent(args)
    await until('first check-in', () => bodies(peer).length === 1)
    tree.plug(stick)
    await until('replug', () => peer.seen.changes.length === 2)
    expect(peer.seen.changes.map((change) => change.op)).toEqual(['removed', 'attached'])
  })

  it.each(Object.keys(hostileTexts) as (keyof typeof hostileTexts)[])(
    'sends hostile strings within the contract: %s',
    async (variant) => {
      const { peer, args } = await setUp({}, [hostileStrings(variant, { portPath: '1-4' })])
      await startAgent([...args, '--once']).done
      const product = bodies(peer)[0]?.inventory?.[0]?.product ?? ''
      expect(product.length).toBeLessThanOrEqual(255)
      expect(product.isWellFormed()).toBe(true)
      expect(product.slice(0, 4)).toBe(hostileTexts[variant].toWellFormed().slice(0, 4))
    },
  )
})

describe('failures', () => {
  it('repeat a check-in byte for byte until it is acknowledged, and store nothing twice', async () => {
    const { peer, tree, args } = await setUp()
    startAgent(args)
    await until('first check-in', () => bodies(peer).length === 1)
    peer.fail(
      agentPaths.checkIn,
      { kind: 'lost-answer' },
      { kind: 'problem', status: 503, code: 'unavailable' },
      { kind: 'reset' },
      { kind: 'garbage' },
    )
    tree.plug(stick)
    await until('acknowledged', () => peer.seen.checkIns.length === 3)
    expect(peer.seen.checkIns[2]?.text).toBe(peer.seen.checkIns[1]?.text)
    expect(peer.seen.changes).toHaveLength(1)
  })

  it('keep changes in order over a restart while the server is unreachable', async () => {
    const { peer, tree, args } = await setUp()
    const agent = startAgent(args)
    await until('first check-in', () => bodies(peer).length === 1)
    await peer.stop()
    tree.plug(stick)
    await until('stick noticed', () => agent.lines.filter((line) => line.includes('devices_changed')).length === 1)
    tree.unplug('1-1')
    await until('removal noticed', () => agent.lines.filter((line) => line.includes('devices_changed')).length === 2)
    await agent.stop()
    await peer.resume()
    startAgent(args)
    await until('reported', () => peer.seen.changes.length === 2)
    expect(peer.seen.changes.map((change) => change.op)).toEqual(['attached', 'removed'])
    expect([...peer.only().devices.keys()]).toEqual(['1-2'])
  })

  it('do not repeat a committed change if acknowledgement and agent were lost', async () => {
    const { peer, tree, args } = await setUp()
    const agent = startAgent(args)
    await until('first check-in', () => bodies(peer).length === 1)
    peer.fail(
      agentPaths.checkIn,
      { kind: 'lost-answer' },
      ...Array.from({ length: 1000 }, () => ({ kind: 'reset' as const })),
    )
    tree.plug(stick)
    await until('committed', () => peer.seen.changes.length === 1)
    await agent.stop()
    const after = await setUpAgain(peer, args)
    expect(after.seen.changes).toHaveLength(1)
    expect(after.only().devices.size).toBe(2)
  })

  it('open a new session with the same boot when the old one expired or was superseded', async () => {
    const { peer, tree, args } = await setUp()
    startAgent(args)
    await until('first check-in', () => bodies(peer).length === 1)
    peer.expireSessions()
    tree.plug(stick)
    await until('reported after 401', () => peer.seen.changes.length === 1)
    peer.only().currentBoot = 'another'
    tree.unplug('1-2')
    await until('reported after 409', () => peer.seen.changes.length === 2)
    expect(new Set(bodies(peer).map((body) => body.bootId)).size).toBe(1)
    expect(peer.seen.sessions).toHaveLength(3)
  })

  it('never involve an expired token: the agent renews it before', async () => {
    const { peer, args } = await setUp({ expiresInSeconds: 1, nextCheckInSeconds: 0.1 })
    startAgent(args)
    await until('renewed', () => peer.seen.sessions.length >= 2)
    expect(peer.seen.errors).toEqual([])
  })

  it('start a new boot with the full inventory if the sequence of the server differs', async () => {
    const { peer, tree, args } = await setUp()
    startAgent(args)
    await until('first check-in', () => bodies(peer).length === 1)
    peer.only().boots.clear()
    peer.expireSessions()
    tree.plug(stick)
    await until('reported again', () => peer.seen.changes.length === 1)
    expect(bodies(peer).at(-1)).toMatchObject({ seq: 1, inventory: [{ portPath: '1-1' }, { portPath: '1-2' }] })
    expect(new Set(bodies(peer).map((body) => body.bootId)).size).toBe(2)
  })

  it('drop a body that the server calls invalid, and send the full inventory next', async () => {
    const { peer, tree, args } = await setUp()
    startAgent(args)
    await until('first check-in', () => bodies(peer).length === 1)
    peer.fail(agentPaths.checkIn, { kind: 'problem', status: 400, code: 'agent_report_invalid' })
    tree.plug(stick)
    await until('inventory', () => bodies(peer).length === 2)
    expect(bodies(peer)[1]?.inventory).toHaveLength(2)
    expect(bodies(peer)[1]?.changes).toBeUndefined()
    expect(peer.seen.errors.map((error) => error.code)).toEqual(['report_refused'])
  })

  it('wait for Retry-After', async () => {
    const { peer, args } = await setUp()
    peer.fail(agentPaths.session, {
      kind: 'problem',
      status: 429,
      code: 'rate_limited',
      headers: { 'retry-after': '1' },
    })
    const start = performance.now()
    await startAgent([...args, '--once']).done
    expect(performance.now() - start).toBeGreaterThan(1000)
  })

  it('sign the nonce of the server once if the proof is not current', async () => {
    const { peer, args } = await setUp()
    const refused = (nonce: string) =>
      ({ kind: 'problem', status: 409, code: 'session_proof_old', members: { nonce } }) as const
    // The second nonce is no text that the agent signs.
    peer.fail(agentPaths.session, refused(`bounded_${'s'.repeat(47)}`), { kind: 'garbage' }, refused('a\nb'.repeat(20)))
    await startAgent([...args, '--once']).done
    // The refused requests do not reach the peer, which verifies each signature.
    expect(peer.seen.sessions.map(({ nonce }) => nonce)).toEqual([expect.stringMatching(/^bounded_[\w-]{32}$/)])
    peer.fail(agentPaths.session, refused(`bounded_${'t'.repeat(47)}`))
    await startAgent([...args, '--once']).done
    expect(peer.seen.sessions.at(-1)?.nonce).toBe(`bounded_${'t'.repeat(47)}`)
  })

  it('cause no loop if server and agent disagree about the hash', async () => {
    const { peer, args } = await setUp({ alwaysNeedsInventory: true })
    startAgent(args)
    await until('resyncs', () => bodies(peer).length === 4)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(bodies(peer)).toHaveLength(4)
  })

  it('exit with 3 after a revocation, on every later start too, until another token enrols the host again', async () => {
    const { peer, args, stateDir } = await setUp()
    await startAgent([...args, '--once']).done
    const first = peer.only()
    first.revoked = true
    expect(await startAgent(args).done).toMatchObject({ code: 3 })
    first.revoked = false
    expect(await startAgent(args).done).toMatchObject({ code: 3 })
    expect(peer.seen.enrols).toHaveLength(1)
    const other = await peerFor({ token: 'pce_9_fresh' })
    expect(
      await startAgent([
        '--server',
        other.url,
        '--token',
        other.token,
        '--state-dir',
        stateDir,
        '--sysfs-root',
        args.at(-1) ?? '',
        '--once',
      ]).done,
    ).toBeUndefined()
    expect(other.seen.enrols[0]?.publicKey).not.toBe(first.publicKey)
  })

  it('do not delay a stop beyond two seconds while a request hangs', async () => {
    const { peer, args, stateDir } = await setUp()
    peer.fail(agentPaths.checkIn, { kind: 'hang' })
    const agent = startAgent(args)
    await until('session', () => peer.seen.sessions.length === 1)
    const start = performance.now()
    expect(await agent.stop()).toBeUndefined()
    expect(performance.now() - start).toBeLessThan(2000)
    expect(existsSync(join(stateDir, 'lock'))).toBe(false)
  })
})

describe('commands', () => {
  it('are acknowledged once as unsupported, and never if they do not verify', async () => {
    const { peer, args } = await setUp()
    await startAgent([...args, '--once']).done
    const agentId = peer.only().id
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    peer.command(
      { id: 'c-forged', agentId, kind: 'arm', counter: 9, expiresAt },
      generateKeyPairSync('ed25519').privateKey,
    )
    peer.command({ id: 'c-other', agentId: 'somebody', kind: 'arm', counter: 1, expiresAt })
    peer.command({ id: 'c-right', agentId, kind: 'arm', counter: 2, expiresAt })
    peer.command({ id: 'c-late', agentId, kind: 'arm', counter: 3, expiresAt: new Date(0).toISOString() })
    peer.command({ id: 'c-replay', agentId, kind: 'free', counter: 2, expiresAt })
    peer.command({ id: 'c-same', agentId, kind: 'free', counter: 3, expiresAt })
    await startAgent([...args, '--once']).done
    expect(peer.seen.acks).toEqual([
      { commandId: 'c-late', outcome: 'failed', message: 'The command expired before it reached the host.' },
      {
        commandId: 'c-right',
        outcome: 'failed',
        message: 'This agent version does not support the command arm. Update the agent.',
      },
    ])
    expect(peer.seen.errors.filter((error) => error.code === 'command_refused').length).toBeGreaterThanOrEqual(3)
  })
})

/** Starts the agent again with the same peer and without the remaining faults. */
const setUpAgain = async (peer: Awaited<ReturnType<typeof startPeer>>, args: readonly string[]) => {
  peer.clearFaults()
  const before = peer.seen.checkIns.length
  startAgent(args)
  await until('next start', () => peer.seen.checkIns.length > before)
  return peer
}
