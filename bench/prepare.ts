/** A server whose database holds a fleet. */

import { fromRoot } from '../rig/root.ts'
import { type BenchServer, startServer } from '../rig/server-process.ts'
import { seedDesigns } from './loader/designs.ts'
import { type LoadedFleet, loadFleet } from './loader.ts'

export interface PrepareOptions {
  databaseUrl: string | undefined
  isTls?: boolean
  agents: number
  peripheralsPerAgent: number
  played?: number
  /** Device designs in the fleet. */
  designs: number
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

/** Starts a server, lets it judge the designs of the fleet, and loads the fleet beneath it. */
export const prepareFleet = async (options: PrepareOptions): Promise<{ server: BenchServer; fleet: LoadedFleet }> => {
  const server = await startServer(options)
  try {
    const token = await server.signIn()
    const seeds = Math.ceil(options.designs / 100)
    const enrolment = await server.call(
      '/prime/webui/agents/enrollmenttokens',
      { name: 'Designs of the benchmark', maxUses: seeds },
      token,
    )
    const seeded = await seedDesigns({
      url: server.url,
      ca: server.ca,
      token: String(enrolment.token),
      count: options.designs,
      usbIdsFile: fromRoot('knowledge/usb.ids'),
    })
    await server.call('/prime/webui/agents/deleteAgents', seeded, token)
    const startedAt = performance.now()
    const fleet = await loadFleet(server.connection, {
      ...options,
      nowMs: Date.now(),
      progress: (loaded) => {
        if (loaded % 100_000 === 0) say(`${loaded} of ${options.agents} hosts loaded`)
      },
    })
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    say(`${fleet.agents} hosts with ${fleet.peripherals} peripherals loaded in ${seconds} s`)
    return { server, fleet }
  } catch (error) {
    await server.stop()
    throw error
  }
}
