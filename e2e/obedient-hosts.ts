import { gzipSync } from 'node:zlib'
import { type AgentCommand, agentPaths, type DeviceReport } from '@portcullis/features/contract.ts'
import type { ServerCalls } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'

/** One host of a small fleet. */
export interface HostInput {
  name: string
  devices: readonly DeviceReport[]
}

// Interval of check-ins, short enough that a command is executed before the test checks its result.
const pause = 250

/**
 * Starts hosts that use the real protocol over the network and execute commands at once (arm, free, send a log). Unlike
 * real agents on this machine, each has its own host name.
 */
export const startHosts = async (server: ServerCalls, hosts: readonly HostInput[]) => {
  const token = await server.enrolmentToken()
  // The members of a test app that the builder uses if it has a token.
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
  // The connection of a host may break when the test ends.
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
