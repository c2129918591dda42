/** Starts a server with a fleet in its database. */
import { seedFingerprints } from '../kit/fleet.ts'
import { startServer } from '../kit/installation.ts'
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
    return { server, hosts: fleet.played, [Symbol.asyncDispose]: server.stop }
  } catch (error) {
    await server.stop()
    throw error
  }
}
