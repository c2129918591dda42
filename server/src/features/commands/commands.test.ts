import { createPublicKey, verify } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type AgentCommand, agentPaths, type CheckInResponse, type Command, type Job } from '@portcullis/contract'
import { plainKeyboard } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { sql } from '#platform/db/sql.ts'
import { systemActor } from '#platform/http/actor.ts'
import { loadKeys } from '#platform/keys.ts'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '#test/builders.ts'
import type { CommandSpec } from './index.ts'

let t: TestApp
const operator = systemActor('tester')

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const arm = (agent: TestAgent, mode: 'Armed' | 'Free' = 'Armed', jobId?: string): CommandSpec => ({
  agentId: agent.agentId,
  kind: 'configure',
  title: mode === 'Armed' ? 'Arm' : 'Free',
  body: { mode, applyToPresent: false },
  ...(jobId === undefined ? {} : { jobId }),
})
const queue = (...specs: CommandSpec[]) => t.db.transaction((tx) => t.commands.queue(tx, operator, specs))
const cancel = (...agents: TestAgent[]) =>
  t.db.transaction((tx) =>
    t.commands.cancel(
      tx,
      operator,
      agents.map((a) => a.agentId),
    ),
  )
const payloads = (answer: CheckInResponse): AgentCommand[] =>
  (answer.commands ?? []).map((c) => JSON.parse(c.payload) as AgentCommand)
const ack = (agent: TestAgent, id: string, outcome: 'confirmed' | 'failed' = 'confirmed', message = '') =>
  agent.checkIn({ acks: [{ commandId: id, outcome, message }] })
const ofAgent = async (agent: TestAgent): Promise<Command[]> =>
  (await pageOf<Command>(t, `agents/commands?hostUuid=${agent.agentId}&SortBy=createdAt_asc`)).data
const publicKey = () =>
  createPublicKey({ key: loadKeys(`${t.keyDir}/key`).command.publicKeyDer, format: 'der', type: 'spki' })

describe('a command', () => {
  it('is delivered with the next check-in, signed, and ends when the host confirms it', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    const before = await agent.detail()
    expect(before).toMatchObject({ inAction: false, pendingCommands: [] })
    expect(await queue(arm(agent))).toEqual({ queued: [agent.agentId], missing: [] })
    expect(await agent.detail()).toMatchObject({
      inAction: true,
      pendingCommands: [{ kind: 'configure', state: 'queued' }],
    })

    t.clock.advance(1_000)
    const answer = await agent.checkIn()
    const [signed] = answer.commands ?? []
    const [command] = payloads(answer)
    expect(command).toEqual({
      id: expect.any(String),
      agentId: agent.agentId,
      kind: 'configure',
      counter: expect.any(Number),
      expiresAt: '2031-05-11T10:11:12.000Z',
      mode: 'Armed',
      applyToPresent: false,
    })
    expect(
      verify(null, Buffer.from(signed?.payload ?? ''), publicKey(), Buffer.from(signed?.signature ?? '', 'base64')),
    ).toBe(true)
    expect(await ofAgent(agent)).toMatchObject([
      {
        kind: 'configure',
        title: 'Arm',
        state: 'delivered',
        createdBy: 'tester',
        deliveredAt: '2031-05-04T10:11:13.000Z',
      },
    ])

    // An answer may be lost on its way: the command comes again until it is ended.
    expect(payloads(await agent.checkIn())).toEqual([command])
    t.clock.advance(1_000)
    expect(await ack(agent, command?.id ?? '')).toEqual({ nextCheckInSeconds: 60 })
    expect(await ofAgent(agent)).toMatchObject([
      { state: 'confirmed', message: '', endedAt: '2031-05-04T10:11:14.000Z' },
    ])
    expect(await agent.detail()).toMatchObject({
      inAction: false,
      pendingCommands: [],
      lastConfiguered: '2031-05-04T10:11:14.000',
    })
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
  })
})
