/** Starts a server with a fleet in its database. */
import { randomUUID } from 'node:crypto'
import { agentPaths } from '@portcullis/contract'
import { sessionRequest } from '../../cli/simulator/identity.ts'
import type { Answer, Transport } from '../../cli/simulator/transport.ts'
import { seedFingerprints } from '../kit/fleet.ts'
import { startServer } from '../kit/installation.ts'
import type { PlayedHost } from '../kit/loader/hosts.ts'
import { loadFleet } from '../kit/loader.ts'

export interface LoadedOptions {
  root: string
  agents: number
  peripheralsPerAgent?: number
  isTls?: boolean
  env?: Readonly<Record<string, string>>
}

const designs = 100

/** Starts a server and loads a fleet. Every host has a real key, so the caller can act as it. */
export const startLoaded = async ({
  root,
  agents,
  peripheralsPerAgent = 3,
  isTls = false,
  env = {},
}: LoadedOptions) => {
  const server = await startServer({ databaseUrl: undefined, root, isTls, env })
  try {
    const seeded = await seedFingerprints(server, designs)
    await server.call('/prime/webui/agents/deleteAgents', seeded, await server.signIn())
    const fleet = await loadFleet(server.connection, { agents, peripheralsPerAgent, played: agents, nowMs: Date.now() })
    return { server, hosts: fleet.played }
  } catch (error) {
    await server.stop()
    throw error
  }
}

export interface OpenedSession {
  answer: Answer
  bootId: string
}

/** Requests a session for a host with a new boot id. */
export const openSession = async (
  transport: Pick<Transport, 'post'>,
  host: Pick<PlayedHost, 'agentId' | 'privateKey'>,
): Promise<OpenedSession> => {
  const bootId = randomUUID()
  const request = sessionRequest(host, bootId, Date.now())
  const answer = await transport.post(agentPaths.session, () => JSON.stringify(request), undefined)
  return { answer, bootId }
}
