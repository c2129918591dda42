/**
 * Runs the agent for Windows under Wine with the real registry. The Plug and Play tree and the calls that change it are
 * a stand-in (`agent/test/windows-machine.ts`), because Wine does not support them. The test sends orders to attach
 * devices.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeviceReport } from '@portcullis/contract/agent-protocol'
import { systemClock } from '../../../agent/src/clock.ts'
import { createWindowsEnforcement } from '../../../agent/src/platform/windows/enforcement/enforcement.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createRegistry } from '../../../agent/src/platform/windows/registry.ts'
import { createRegistryApi } from '../../../agent/src/platform/windows/registry-api.ts'
import { createWindows } from '../../../agent/src/platform/windows/windows.ts'
import { startProgram } from '../../../agent/src/program.ts'
import { createWindowsMachine } from '../../../agent/test/windows-machine.ts'

interface Order {
  plug?: DeviceReport
  unplug?: string
  /** Answer with the policies of the registry and the ports of working devices. */
  report?: boolean
}

const VERSION = 'HKLM\\Software\\Microsoft\\Windows NT\\CurrentVersion'

const koffi = loadKoffi()
const raw = createRegistryApi(koffi)
const registry = createRegistry(raw)
registry.writeText(VERSION, 'CurrentBuildNumber', '22631')
registry.writeDword(VERSION, 'UBR', 3000)
registry.writeText(VERSION, 'EditionID', 'Professional')
const machine = createWindowsMachine({ raw })
const ports = new Set<string>()
let changes = 0
let notify = (): void => undefined

const windows = createWindows(process.env)
startProgram(process.env, {
  ...windows,
  create(settings) {
    const platform = windows.create(settings)
    const { gate, inventory } = createWindowsEnforcement({
      registry,
      calls: machine.calls,
      clock: systemClock,
      nodes: machine.nodes,
      neededNodes: machine.nodes,
      readHub: machine.readHub,
      stamp: () => String(changes),
      systemDisks: () => [],
    })
    return {
      ...platform,
      gate,
      inventory,
      needs: { otherKeyboards: () => 1, bootPorts: () => new Set() },
      monitor: ({ onEvent, onState }) => ({
        start() {
          notify = onEvent
          onState(true)
        },
        stop: () => undefined,
      }),
    }
  },
})

/** Returns the policies and the own key as `reg`, the program of the system, shows them. */
const exported = (): string => {
  spawnSync('reg', ['export', 'HKLM\\Software\\Policies', 'C:\\policies.reg', '/y'], { stdio: 'ignore' })
  const own = spawnSync('reg', ['query', 'HKLM\\Software\\PortcullisEnforcement'], { stdio: 'ignore' })
  return `${readFileSync('C:\\policies.reg', 'utf16le')}own key: ${own.status === 0 ? 'present' : 'missing'}`
}

const obey = async (url: string): Promise<void> => {
  for (;;) {
    const order = (await (await fetch(url)).json()) as Order
    if (order.plug) {
      machine.plug(order.plug)
      ports.add(order.plug.portPath)
    }
    if (order.unplug) machine.unplug(order.unplug)
    if (order.plug || order.unplug) {
      changes++
      notify()
    }
    if (order.report) {
      const working = [...ports].filter((port) => machine.works(port))
      await fetch(url, { method: 'POST', body: JSON.stringify({ policies: exported(), working }) })
    }
    await sleep(20)
  }
}
void obey(process.env.ORDERS ?? '')
