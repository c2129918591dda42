import type { AgentCommand, Command, DeviceReport, HostFacts, Rollout } from '@portcullis/features/contract.ts'
import type { TestApp } from './app.ts'
import { type CheckInFields, enrolAgent, enrolmentToken, pageOf, type TestAgent } from './builders.ts'

export const rolloutsBase = '/prime/webui/rollouts'
const minute = 60_000

/** Returns the host counts of a ring without zeros. */
export const ring = (rollout: Rollout, i: number) =>
  Object.fromEntries(Object.entries(rollout.rings[i]?.hosts ?? {}).filter(([, n]) => n > 0))

/** Checks in with a new session, because the dwell time is longer than a session. */
export const checkIn = async (agent: TestAgent, fields: CheckInFields = {}) => {
  await agent.session()
  return agent.checkIn(fields)
}

/** Makes a host take its commands and report the new mode. */
export const take = async (
  agent: TestAgent,
  outcome: 'confirmed' | 'failed' = 'confirmed',
): Promise<AgentCommand[]> => {
  const answer = await checkIn(agent)
  const commands = (answer.commands ?? []).map(({ payload }) => JSON.parse(payload) as AgentCommand)
  if (commands.length > 0)
    await checkIn(agent, {
      acks: commands.map(({ id }) => ({
        commandId: id,
        outcome,
        message: outcome === 'failed' ? 'the disk is full' : '',
      })),
    })
  const configured = commands.findLast((command) => command.kind === 'configure')
  if (configured?.kind === 'configure' && outcome === 'confirmed')
    await checkIn(agent, { enforcement: { mode: configured.mode, policyVersion: 1, reason: '' } })
  return commands
}
export const takeAll = async (agents: readonly TestAgent[], outcome: 'confirmed' | 'failed' = 'confirmed') => {
  for (const agent of agents) await take(agent, outcome)
}

/** Returns helpers for rollouts, as the administrator and as hosts. The app must listen. */
export const rolloutsOf = (t: TestApp) => {
  /** Enrols connected hosts with a tag. */
  const hosts = async (count: number, tag: string, facts: Partial<HostFacts> = {}, devices: DeviceReport[] = []) => {
    const token = await enrolmentToken(t, { hashtags: [tag] })
    return Promise.all(Array.from({ length: count }, () => enrolAgent(t, { token, facts, devices })))
  }
  const post = async (path: string, body?: unknown) => (await t.admin()).post(`${rolloutsBase}/${path}`, body)
  const read = async (id: string): Promise<Rollout> => (await (await t.admin()).get(`${rolloutsBase}/${id}`)).json()
  const advance = async (id: string, minutes = 0): Promise<Rollout> => {
    t.clock.advance(minutes * minute)
    await t.rollouts.advance()
    return read(id)
  }
  const start = async (change: Record<string, unknown> = {}): Promise<Rollout> => {
    const answer = await post('start', {
      kind: 'arm',
      name: 'test',
      rings: [
        { name: 'canary', tags: ['canary'] },
        { name: 'rest', sharePercent: 100 },
      ],
      ...change,
    })
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
    return advance(answer.json().id)
  }
  const order = async (id: string, what: string): Promise<Rollout> => {
    const answer = await post(`${id}/${what}`)
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
    return advance(id)
  }
  /** All hosts created by `fleet`. */
  let all: TestAgent[] = []
  const fleet = async (canaries: number, others: number) => {
    const [canary, rest] = [await hosts(canaries, 'canary'), await hosts(others, 'office')]
    all = [...canary, ...rest]
    return { canary, rest }
  }
  const silence = async (agents: readonly TestAgent[]) => {
    t.clock.advance(10 * minute)
    const quiet = new Set(agents.map((a) => a.agentId))
    for (const agent of all) if (!quiet.has(agent.agentId)) await checkIn(agent)
    await t.ingest.sweep()
  }
  const commandsOf = async (agent: TestAgent): Promise<Command[]> =>
    (await pageOf<Command>(t, `agents/commands?hostUuid=${agent.agentId}&SortBy=createdAt_asc`)).data
  return { hosts, post, read, advance, start, order, fleet, silence, commandsOf }
}
