import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { inventoryHash } from '@portcullis/domain'
import {
  agentPaths,
  CheckInRequest,
  EnrolRequest,
  enrolProofText,
  SessionRequest,
  sessionProofText,
} from '@portcullis/features/contract.ts'
import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { createHostAgent, Refused } from '../simulator/host-agent.ts'
import { createHost } from '../simulator/hosts.ts'
import { createInventory } from '../simulator/inventory.ts'
import { createRandom } from '../simulator/random.ts'
import type { Answer, Transport } from '../simulator/transport.ts'
import { NoAnswer } from '../simulator/transport.ts'

type Script = (path: string, body: Record<string, unknown>) => Partial<Answer> | undefined

/** Creates a server that checks proofs and shapes and answers as scripted, by default with success. */
const createPeer = (script: Script = () => undefined) => {
  const sent: { path: string; text: string; body: Record<string, unknown>; token: string | undefined }[] = []
  let key: KeyObject | undefined
  let sessions = 0
  let taken = 0
  const usual = (path: string, body: Record<string, unknown>): Record<string, unknown> => {
    if (path === agentPaths.enrol) {
      expect(Check(EnrolRequest, body)).toBe(true)
      const request = body as unknown as EnrolRequest
      key = createPublicKey({ key: Buffer.from(request.publicKey, 'base64'), format: 'der', type: 'spki' })
      const text = Buffer.from(enrolProofText(request.token, request.publicKey))
      expect(verify(null, text, key, Buffer.from(request.proof, 'base64'))).toBe(true)
      return { agentId: 'agent-1' }
    }
    if (path === agentPaths.session) {
      expect(Check(SessionRequest, body)).toBe(true)
      const request = body as unknown as SessionRequest
      const signature = Buffer.from(request.signature, 'base64')
      expect(verify(null, Buffer.from(sessionProofText(request)), key as KeyObject, signature)).toBe(true)
      sessions += 1
      return { token: `token-${sessions}`, expiresInSeconds: 3600, nextSeq: taken + 1 }
    }
    if (path !== agentPaths.checkIn) return {}
    taken = Number(body.seq)
    return { nextCheckInSeconds: 60 }
  }
  const transport: Pick<Transport, 'post'> = {
    post: async (path, form, token, started = () => {}) => {
      started()
      const text = String(form())
      const body = (path.startsWith(agentPaths.debugLogs) ? {} : JSON.parse(text)) as Record<string, unknown>
      sent.push({ path, text, body, token })
      if (path === agentPaths.checkIn) expect(Check(CheckInRequest, body)).toBe(true)
      const scripted = script(path, body)
      if (scripted?.status === 0) throw new NoAnswer('connection reset')
      const isRefused = (scripted?.status ?? 200) !== 200
      return { status: 200, retryAfterMs: 0, body: isRefused ? {} : usual(path, body), ...scripted }
    },
  }
  const random = createRandom(9)
  const host = createHost(0, random, 'test')
  const failures: string[] = []
  let now = 1_800_000_000_000
  const agent = createHostAgent({
    host,
    inventory: createInventory(host.department, random),
    transport: transport as Transport,
    clock: { now: () => now },
    waits: { sleep: async () => {} },
    failed: (what) => failures.push(what),
  })
  const checkIns = () => sent.filter((s) => s.path === agentPaths.checkIn)
  return { agent, sent, checkIns, failures, pass: (ms: number) => (now += ms) }
}

const once = (answer: (body: Record<string, unknown>) => Partial<Answer> | undefined): Script => {
  let done = false
  return (path, body) => {
    if (done || path !== agentPaths.checkIn) return undefined
    done = true
    return answer(body)
  }
}

describe('a simulated host', () => {
  it('enrols, proves its key, and sends facts and the full inventory first, then only changes', async () => {
    const { agent, sent, checkIns } = createPeer()
    await agent.join('pce_x')
    await agent.checkIn(undefined, () => {})
    await agent.checkIn(undefined, () => {})
    agent.changeDevices()
    await agent.checkIn(undefined, () => {})
    expect(sent.map((s) => s.path)).toEqual([
      agentPaths.enrol,
      agentPaths.session,
      ...Array(3).fill(agentPaths.checkIn),
    ])
    const [first, second, third] = checkIns().map((s) => s.body as unknown as CheckInRequest)
    expect(first?.inventory?.length).toBeGreaterThanOrEqual(5)
    expect(first?.inventoryHash).toBe(inventoryHash(first?.inventory ?? []))
    expect(first?.facts).toEqual(agent.host.facts)
    expect(Object.keys(second ?? {}).sort()).toEqual(['bootId', 'clock', 'inventoryHash', 'seq'])
    expect(third?.changes?.length).toBe(1)
    expect(third?.inventoryHash).not.toBe(second?.inventoryHash)
    expect([first, second, third].map((r) => r?.seq)).toEqual([1, 2, 3])
  })

  it.each([
    ['no answer', { status: 0 }],
    ['503', { status: 503, body: { code: 'unavailable' } }],
  ])('repeats the same bytes after %s', async (_, answer) => {
    const peer = createPeer(once(() => answer))
    await peer.agent.join('pce_x')
    peer.agent.changeDevices()
    await peer.agent.checkIn(undefined, () => {})
    const [first, second] = peer.checkIns()
    expect(second?.text).toBe(first?.text)
    expect(peer.failures.length).toBe(1)
  })

  it('opens a new session when the old one expired, and repeats the same bytes in it', async () => {
    const peer = createPeer(once(() => ({ status: 401, body: { code: 'agent_session_expired' } })))
    await peer.agent.join('pce_x')
    await peer.agent.checkIn(undefined, () => {})
    const [first, second] = peer.checkIns()
    expect([first?.token, second?.token]).toEqual(['token-1', 'token-2'])
    expect(second?.text).toBe(first?.text)
  })

  it('renews its session at 80 % of its life', async () => {
    const peer = createPeer()
    await peer.agent.join('pce_x')
    peer.pass(3600 * 790)
    await peer.agent.checkIn(undefined, () => {})
    peer.pass(3600 * 20)
    await peer.agent.checkIn(undefined, () => {})
    expect(peer.checkIns().map((s) => s.token)).toEqual(['token-1', 'token-2'])
  })

  it('sends the full inventory at once on request, but not forever', async () => {
    const peer = createPeer((path) =>
      path === agentPaths.checkIn ? { body: { nextCheckInSeconds: 60, needInventory: true } } : undefined,
    )
    await peer.agent.join('pce_x')
    let acknowledged = 0
    await peer.agent.checkIn(undefined, () => {
      acknowledged += 1
    })
    expect(acknowledged).toBe(4)
    expect(peer.checkIns().every((s) => s.body.inventory !== undefined)).toBe(true)
    expect(peer.checkIns().map((s) => s.body.seq)).toEqual([1, 2, 3, 4])
  })

  it('drops a report that is refused as invalid, and sends the full inventory instead', async () => {
    const peer = createPeer()
    await peer.agent.join('pce_x')
    await peer.agent.checkIn(undefined, () => {})
    const refusing = createPeer(once(() => ({ status: 400, body: { code: 'agent_report_invalid' } })))
    await refusing.agent.join('pce_x')
    refusing.agent.changeDevices()
    await refusing.agent.checkIn(undefined, () => {})
    const [first, second] = refusing.checkIns().map((s) => s.body as unknown as CheckInRequest)
    expect(first?.changes?.length).toBe(1)
    expect(second?.changes).toBeUndefined()
    expect(second?.inventory?.length).toBeGreaterThanOrEqual(5)
  })

  it.each(['agent_revoked', 'agent_unknown'])('stops permanently after %s', async (code) => {
    const peer = createPeer((path) => (path === agentPaths.checkIn ? { status: 403, body: { code } } : undefined))
    await peer.agent.join('pce_x')
    await expect(peer.agent.checkIn(undefined, () => {})).rejects.toThrow(Refused)
    expect(peer.agent.isRefused()).toBe(true)
    expect(peer.checkIns().length).toBe(1)
  })

  describe('after a command', () => {
    const id = '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'
    const command = (counter: number, rest: Record<string, unknown>) => ({
      payload: JSON.stringify({
        id: `${id.slice(0, -1)}${counter}`,
        agentId: 'agent-1',
        counter,
        expiresAt: '2100-01-01T00:00:00.000Z',
        ...rest,
      }),
      signature: '',
    })
    /** Answers each check-in with one list of commands, and policy requests with an empty policy. */
    const peerWith = (...lists: ReturnType<typeof command>[][]) =>
      createPeer((path) => {
        if (path === agentPaths.policy)
          return { body: { payload: JSON.stringify({ version: 7, rules: [] }), signature: '' } }
        if (path !== agentPaths.checkIn) return undefined
        const commands = lists.shift()
        return { body: { nextCheckInSeconds: 60, ...(commands === undefined ? {} : { commands }) } }
      })

    it('to arm with applyToPresent, blocks devices that no rule allows, reports it, and can be freed', async () => {
      const peer = peerWith(
        [command(1, { kind: 'configure', mode: 'Armed', applyToPresent: true })],
        [],
        [command(2, { kind: 'configure', mode: 'Free', applyToPresent: false })],
      )
      await peer.agent.join('pce_x')
      await peer.agent.checkIn(undefined, () => {})
      const [, told] = peer.checkIns().map((s) => s.body as unknown as CheckInRequest)
      expect(told).toMatchObject({
        acks: [{ commandId: expect.stringMatching(/1$/), outcome: 'confirmed', message: '' }],
        enforcement: { mode: 'Armed', policyVersion: 7, reason: '' },
      })
      const blocked = peer.agent.inventory.devices().filter((d) => d.authorized === false)
      expect(blocked.length).toBeGreaterThan(0)
      expect(told?.changes?.map((c) => c.op === 'changed' && c.device.enforced?.policyVersion)).toContain(7)
      expect(told?.inventoryHash).toBe(inventoryHash(peer.agent.inventory.devices()))
      await peer.agent.checkIn(undefined, () => {})
      const last = peer.checkIns().at(-1)?.body as unknown as CheckInRequest
      expect(last).toMatchObject({ enforcement: { mode: 'Free' }, acks: [{ outcome: 'confirmed' }] })
      expect(peer.agent.inventory.devices().every((d) => d.authorized === true)).toBe(true)
      expect(last.inventoryHash).toBe(inventoryHash(peer.agent.inventory.devices()))
    })

    it('to arm, exempts attached devices and blocks new ones', async () => {
      const peer = peerWith([command(1, { kind: 'configure', mode: 'Armed', applyToPresent: false })])
      await peer.agent.join('pce_x')
      await peer.agent.checkIn(undefined, () => {})
      expect(peer.agent.inventory.devices().every((d) => d.authorized === true)).toBe(true)
      for (let n = 0; n < 20; n++) peer.agent.changeDevices()
      expect(peer.agent.inventory.devices().some((d) => d.authorized === false)).toBe(true)
    })

    it('sends its logs again while the server is busy', async () => {
      let left = 3
      const order = once(() => ({ body: { nextCheckInSeconds: 60, commands: [command(5, { kind: 'collect-logs' })] } }))
      const peer = createPeer((path, body) =>
        path.startsWith(agentPaths.debugLogs) && left-- > 0 ? { status: 503, retryAfterMs: 10_000 } : order(path, body),
      )
      await peer.agent.join('pce_x')
      await peer.agent.checkIn(undefined, () => {})
      expect(peer.checkIns().at(-1)?.body).toMatchObject({ acks: [{ outcome: 'confirmed' }] })
    })

    it('gives the same answer to a repeated command, and ignores one with an old counter', async () => {
      const logs = command(5, { kind: 'collect-logs' })
      const peer = peerWith([logs], [logs, command(4, { kind: 'collect-logs' })])
      await peer.agent.join('pce_x')
      await peer.agent.checkIn(undefined, () => {})
      const acks = peer.checkIns().map((s) => (s.body as unknown as CheckInRequest).acks?.map((a) => a.commandId))
      expect(acks).toEqual([undefined, [expect.stringMatching(/5$/)], [expect.stringMatching(/5$/)]])
      expect(peer.sent.filter((s) => s.path.startsWith(agentPaths.debugLogs)).length).toBe(1)
    })
  })
})
