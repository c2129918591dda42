/**
 * Measures arrivals, memory and CPU of the agent for Windows under Wine. The figures are not those of a real Windows
 * host.
 */

import { setTimeout } from 'node:timers/promises'
import { agentLimits, type DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { buildDevice, plainKeyboard } from '@portcullis/domain/testing'
import { bundleAgent } from '../../scripts/bundle-agent.mjs'
import { createWineRoot, whyNoWine } from '../../scripts/wine/root.ts'
import { startServer } from '../kit/installation.ts'
import { cpuSecondsOfTree, memoryOfTree } from '../kit/proc.ts'
import { atMost, median, round } from '../kit/verdict.ts'
import { bundleForWine } from '../kit/windows/bundle.ts'
import { fixtures, startOrders } from '../kit/windows/orders.ts'
import type { BenchResult, Settings } from './result.ts'

/** Devices of the host before the measurement. */
const devices = 31
const withinMs = 60_000
/** Requirement: a device is in the console within a second. */
const arrivalLimitMs = 1_000
/** Target for the private bytes of the agent. */
const memoryLimitMb = 100
/** Target for the idle CPU use, in percent of a core. */
const cpuLimit = 0.5

const stick = (port: number): DeviceReport =>
  buildDevice({
    ...{ vid: '0781', pid: '5581', product: 'Ultra', serial: `4C5300012306151${String(port).padStart(5, '0')}` },
    ...{ portPath: `1-${port}`, interfaces: ['08:06:50'] },
  })

export const benchWindows = async ({ databaseUrl, isQuick }: Settings): Promise<BenchResult> => {
  const { arrivals, idleSeconds } = isQuick ? { arrivals: 5, idleSeconds: 20 } : { arrivals: 20, idleSeconds: 60 }
  const why = whyNoWine()
  if (why !== null) return { what: 'the agent for Windows under Wine', findings: [], notRun: [why] }
  const [server, root, orders] = await Promise.all([startServer({ databaseUrl }), createWineRoot(), startOrders()])
  let run: ReturnType<typeof root.start> | undefined
  try {
    const { outputFiles } = await bundleAgent({
      entry: 'agent/src/platform/windows/main.ts',
      outfile: 'agent.cjs',
      releaseKey: null,
      write: false,
    })
    root.add('agent.cjs', outputFiles?.[0]?.text ?? '')
    root.add('plug.cjs', await bundleForWine('e2e/windows/guest/plug.ts'))
    const token = await server.signIn()
    const enrolment = await server.enrolmentToken(1, token)
    const before = [plainKeyboard({ portPath: '1-1' }), ...Array.from({ length: devices - 1 }, (_, i) => stick(i + 2))]
    if (before.length + arrivals > agentLimits.devices) throw new Error('more devices than an agent reports')
    orders.send({ attach: before.flatMap(fixtures) })
    run = root.start(`
wine /agent/node.exe 'Z:\\agent\\plug.cjs' ${orders.url} </dev/null >plug.txt 2>&1 &
wine /agent/node.exe 'Z:\\agent\\agent.cjs' --server ${server.url} --token ${enrolment} </dev/null >agent.txt 2>&1`)
    const count = async (): Promise<number> =>
      Number((await server.call('/prime/webui/peripherals?PageSize=1', undefined, token)).recordsTotal)
    const until = async (wanted: number): Promise<void> => {
      const end = performance.now() + withinMs
      while ((await count()) !== wanted) {
        if (performance.now() > end) throw new Error(`${await count()} of ${wanted} devices after ${withinMs} ms`)
        await setTimeout(5)
      }
    }
    await until(devices)
    const times: number[] = []
    for (let i = 1; i <= arrivals; i++) {
      await setTimeout(500)
      const began = performance.now()
      orders.send({ attach: fixtures(stick(devices + i)) })
      await until(devices + i)
      times.push(performance.now() - began)
    }
    const isAgent = (command: string): boolean => command.includes('agent.cjs')
    const pid = run.pid
    await setTimeout(5_000)
    const cpu = cpuSecondsOfTree(pid, isAgent)
    await setTimeout(idleSeconds * 1_000)
    const share = ((cpuSecondsOfTree(pid, isAgent) - cpu) / idleSeconds) * 100
    const memory = memoryOfTree(pid, isAgent)
    return {
      what: `one agent under Wine with ${devices} devices, ${arrivals} arrivals one after the other, then ${idleSeconds} s without any; from the order to attach to the API`,
      findings: [
        atMost(
          'arrival to console, slowest',
          round(Math.max(...times), 0),
          arrivalLimitMs,
          'ms',
          `median ${round(median(times), 0)} ms`,
        ),
        atMost(
          'private memory of the agent, idle',
          round(memory.anonymous / 1e6, 1),
          memoryLimitMb,
          'MB',
          `Pss ${round(memory.total / 1e6, 1)} MB`,
        ),
        atMost('share of a core, idle', round(share), cpuLimit, '%'),
      ],
    }
  } finally {
    await run?.stop()
    orders.close()
    root.remove()
    await server.stop()
  }
}
