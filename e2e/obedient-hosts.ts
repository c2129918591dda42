import { gzipSync } from 'node:zlib'
import { type AgentCommand, agentPaths, type DeviceReport } from '@portcullis/contract'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import type { RunningServer } from './harness.ts'

/** One host of a small fleet. */
export interface HostInput {
  name: string
  devices: readonly DeviceReport[]
}

// Between two check-ins of a host: short, so that a command is carried out before a person would look again.
const pause = 250

/**
 * Hosts that speak the real protocol over the network and do what they are told at once: arm, free, send a log. Real
 * agents would all have the name of this machine; these have their own.
 */
export const startHosts = async (server: RunningServer, hosts: readonly HostInput[]) => {
  const token = await server.enrolmentToken()
  // All that the builder takes of a test app, when it has a token.
  const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
  const agents = await Promise.all(
    hosts.map(({ name, devices }) =>
      enrolAgent(at, { token, devices, facts: { hostname: name, enforcement: 'before-driver' } }),
    ),
  )
  const stop = new AbortController()

  const obey = async (agent: (typeof agents)[number]): Promise<void> => {
    let said: Parameters<typeof agent.checkIn>[0] = {}
    while (!stop.signal.aborted) {
      const { commands = [] } = await agent.checkIn(said)
      said = {}
      for (const { payload } of commands) {
        const command = JSON.parse(payload) as AgentCommand
        if (command.kind === 'configure') said.enforcement = { mode: command.mode, policyVersion: 0, reason: '' }
        if (command.kind === 'collect-logs')
          await fetch(`${server.url}${agentPaths.debugLogs}/${command.id}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${agent.state.session}`, 'content-type': 'application/gzip' },
            body: gzipSync(`log of ${agent.facts.hostname}\n`),
          })
        said.acks = [...(said.acks ?? []), { commandId: command.id, outcome: 'confirmed', message: '' }]
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
  // A host that is cut off when the test ends has nothing to say.
  const running = agents.map((agent) =>
    obey(agent).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error
    }),
  )
  return {
    stop: async (): Promise<void> => {
      stop.abort()
      await Promise.all(running)
    },
  }
}
