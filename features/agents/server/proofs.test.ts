import { randomBytes } from 'node:crypto'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent, enrolmentToken, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentPaths, boundedProofPrefix } from '#features/contract.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const send = (body: unknown) => agentPost(t, agentPaths.session, body)
const codes = (agent: TestAgent) => agent.events().then((events) => events.map((event) => event.eventCode))
const minutes = 60_000
/** Enrols with a new token, because these tests advance the clock by days. */
const host = async () => enrolAgent(t, { token: await enrolmentToken(t) })

describe('a replayed session request', () => {
  it('opens no session, whenever it is replayed', async () => {
    const agent = await host()
    const recorded = agent.proven(agent.state.bootId)
    expect((await send(recorded)).status).toBe(200)
    for (const later of [0, 4, 8, 30, 20 * 60]) {
      t.clock.advance(later * minutes)
      await t.server.agents.forgetNonces()
      expect([later, (await send(recorded)).status]).not.toEqual([later, 200])
    }
    expect((await send(agent.proven(agent.state.bootId))).status).toBe(200)
  })

  it('opens no session even if the clock of its host is wrong', async () => {
    for (const skew of [-3 * 365 * 1440, -60, -4, 4, 12, 60, 3 * 365 * 1440]) {
      const agent = await host()
      t.clock.advance(skew * minutes)
      const recorded = agent.proven(crypto.randomUUID())
      t.clock.advance(-skew * minutes)
      expect([skew, (await send(recorded)).status]).toEqual([skew, 200])
      for (let at = 0; at < 90; at += 3) {
        t.clock.advance(3 * minutes)
        await t.server.agents.forgetNonces()
        expect([skew, at, (await send(recorded)).status]).not.toEqual([skew, at, 200])
      }
    }
  })

  it('opens no session after its boot is no longer remembered, or in a boot that never came', async () => {
    const agent = await host()
    t.clock.advance(20 * minutes)
    const unused = agent.proven(crypto.randomUUID())
    const recorded = agent.proven(agent.state.bootId)
    expect((await send(recorded)).status).toBe(200)
    for (let i = 0; i < 55; i++) {
      t.clock.advance(5 * minutes)
      expect((await send(agent.proven(crypto.randomUUID()))).status).toBe(200)
    }
    await t.server.agents.forgetNonces()
    const { code } = JSON.parse((await send(recorded)).text)
    expect(code).toBe('conflict')
    expect((await send(unused)).status).toBe(409)
    // A clock that lags is accepted when it passes the last proof.
    t.clock.advance(minutes)
    const lagging = agent.proven(crypto.randomUUID())
    t.clock.advance(20 * minutes)
    expect((await send(lagging)).status).toBe(200)
    expect((await send(lagging)).status).not.toBe(200)
  })

  it('is distinguished from a host with a corrected clock', async () => {
    const agent = await host()
    t.clock.advance(120 * minutes)
    const ahead = agent.proven(agent.state.bootId)
    t.clock.advance(-120 * minutes)
    expect((await send(ahead)).status).toBe(200)
    expect((await send(agent.proven(agent.state.bootId))).status).toBe(200)
  })
})

describe('a proof of an agent that signs nonces of the server', () => {
  const ownNonce = () => `${boundedProofPrefix}${randomBytes(24).toString('base64url')}`
  const days = 1_440 * minutes
  /** Signs a proof while the clock of the host is wrong. */
  const provenAt = (agent: TestAgent, skewMs: number, nonce = ownNonce()) => {
    t.clock.advance(skewMs)
    const proof = agent.proven(agent.state.bootId, nonce)
    t.clock.advance(-skewMs)
    return proof
  }
  const refusalOf = async (proof: unknown) => {
    const { status, text } = await send(proof)
    const { code, nonce } = JSON.parse(text) as { code: string; nonce: string }
    expect([status, code]).toEqual([409, 'session_proof_old'])
    return nonce
  }

  it('counts for five minutes, although nobody used it before', async () => {
    const agent = await host()
    for (const skew of [-4, 4]) expect((await send(provenAt(agent, skew * minutes))).status).toBe(200)
    for (const skew of [-40 * days, -6 * minutes, 6 * minutes, 40 * days]) await refusalOf(provenAt(agent, skew))
  })

  it('opens a session whatever the clock of the host, by the nonce of the refusal, once and for five minutes', async () => {
    for (const skew of [-40 * days, -60 * minutes, 60 * minutes, 3 * 365 * days]) {
      const [agent, other] = [await host(), await host()]
      const nonce = await refusalOf(provenAt(agent, skew))
      const proof = provenAt(agent, skew, nonce)
      await refusalOf(provenAt(other, skew, nonce))
      expect([skew, (await send(proof)).status]).toEqual([skew, 200])
      for (const later of [0, 6, 20, 60]) {
        t.clock.advance(later * minutes)
        await t.server.agents.forgetNonces()
        expect([skew, later, (await send(proof)).status]).not.toEqual([skew, later, 200])
      }
    }
  })

  it('is the only kind of proof that counts from then on', async () => {
    const agent = await host()
    const recorded = agent.proven(agent.state.bootId)
    t.clock.advance(40 * days)
    const unused = agent.proven(crypto.randomUUID())
    expect((await send(agent.proven(agent.state.bootId, ownNonce()))).status).toBe(200)
    t.clock.advance(6 * minutes)
    await refusalOf(recorded)
    await refusalOf(unused)
  })
})

describe('a copied key', () => {
  it('is still detected after many starts', async () => {
    const agent = await host()
    const answers: number[] = []
    for (let i = 0; i < 60; i++) answers.push((await send(agent.proven(crypto.randomUUID()))).status)
    expect(answers.slice(0, 40).every((status) => status === 200)).toBe(true)
    expect(answers.at(-1)).toBe(429)
    // The host itself still opens sessions.
    await agent.session()
    expect(await codes(agent)).toContain('0x120010')
  })

  it('blocks a host that restarts in a loop for an hour at most', async () => {
    const agent = await host()
    for (let i = 0; i < 60; i++) await send(agent.proven(crypto.randomUUID()))
    t.clock.advance(61 * minutes)
    expect((await send(agent.proven(crypto.randomUUID()))).status).toBe(200)
  })
})

describe('failed attempts', () => {
  const bad = (agent: TestAgent, token: string) => ({
    token,
    keyAlgorithm: 'Ed25519',
    publicKey: 'AAAA',
    machineIdHash: null,
    smbiosHash: null,
    facts: agent.facts,
    proof: 'AAAA',
  })

  it('of one host behind an address do not lock out the others', async () => {
    const agent = await host()
    const other = await host()
    for (let i = 0; i < 35; i++) await agentPost(t, agentPaths.enrol, bad(agent, 'pce_x'))
    for (let i = 0; i < 35; i++) await send({ ...other.proven(other.state.bootId), signature: 'AAAA' })
    expect((await send(agent.proven(agent.state.bootId))).status).toBe(200)
    expect((await host()).agentId).not.toBe('')
  })

  it('for one token and for one agent are limited', async () => {
    const agent = await host()
    const token = await enrolmentToken(t)
    const guess = (i: number) => `${token.slice(0, 37)}${String(i).padStart(43, 'x')}`
    let last = 0
    for (let i = 0; i < 31; i++) last = (await agentPost(t, agentPaths.enrol, bad(agent, guess(i)))).status
    expect(last).toBe(429)
    for (let i = 0; i < 31; i++) last = (await send({ ...agent.proven(agent.state.bootId), signature: 'AAAA' })).status
    expect(last).toBe(429)
  })
})

describe('an enrolment with a lost answer', () => {
  it('can be repeated although it took the last use of its token', async () => {
    const token = await enrolmentToken(t, { maxUses: 1 })
    const first = await enrolAgent(t, { token, only: 'enrol' })
    const again = await enrolAgent(t, { token, only: 'enrol', privateKey: first.privateKey })
    expect(again.agentId).toBe(first.agentId)
    await expect(enrolAgent(t, { token, only: 'enrol' })).rejects.toThrow('used up')
  })
})
