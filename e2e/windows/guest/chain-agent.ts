/**
 * The agent of the test installer: the agent for Windows, with a stand-in for the calls that change devices, which Wine does
 * not support. Uses the registry and the device list of Wine. The test sends orders to attach devices.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import type { DeviceCalls } from '../../../agent/src/platform/windows/enforcement/device-calls.ts'
import type { RawNode } from '../../../agent/src/platform/windows/inventory.ts'
import type { Koffi } from '../../../agent/src/platform/windows/koffi.ts'
import type { PropertyName } from '../../../agent/src/platform/windows/properties.ts'
import { createRegistryApi } from '../../../agent/src/platform/windows/registry-api.ts'
import { startWindows } from '../../../agent/src/platform/windows/start.ts'
import { createWindowsMachine } from '../../../agent/test/windows-machine.ts'
import { ARRIVAL, announce, REMOVAL } from './announce.ts'
import { createAttach, type FixtureNode } from './devices.ts'

interface Order {
  /** Attach these devices. The answer is the time of the change. */
  plug?: DeviceReport[]
  /** Detach the devices at these ports. */
  unplug?: string[]
  /** Answer with the ports of working devices and, if wanted, the policies of the registry. */
  report?: 'working' | 'policies'
}

const ENUM = 'SYSTEM\\CurrentControlSet\\Enum'
const LOCAL_MACHINE = 0x8000_0002
const ORDERS = 'Z:\\agent\\orders.txt'
/** The attached devices, which stay when the agent ends. */
const PLUGGED = 'Z:\\agent\\plugged.json'

/** Writes the tree of the stand-in to the registry of Wine, where its setup API reads devices. */
const createMirror = (koffi: Koffi) => {
  const attach = createAttach(koffi)
  const deleteTree = koffi.load('advapi32.dll').func('int RegDeleteTreeW(uintptr key, str16 path)')
  let written = new Map<string, string>()
  const fixtureOf = ({ instanceId = '', properties }: RawNode): FixtureNode => ({
    instanceId,
    properties: Object.entries(properties).map(([name, { type, data }]) => [
      name as PropertyName,
      type,
      Buffer.from(data ?? []).toString('base64'),
    ]),
  })
  return (nodes: readonly RawNode[]): void => {
    const wanted = new Map(
      nodes
        .filter(({ isPresent }) => isPresent)
        .map((node) => [node.instanceId ?? '', JSON.stringify(fixtureOf(node))]),
    )
    for (const [id, text] of written) if (wanted.get(id) !== text) deleteTree(LOCAL_MACHINE, `${ENUM}\\${id}`)
    const changed = [...wanted].filter(([id, text]) => written.get(id) !== text)
    if (changed.length > 0) attach(changed.map(([, text]) => JSON.parse(text)))
    written = wanted
  }
}

/** Returns the policies and the own key as `reg`, the program of the system, shows them. */
const exported = (): string => {
  spawnSync('reg', ['export', 'HKLM\\Software\\Policies', 'C:\\policies.reg', '/y'], { stdio: 'ignore' })
  const own = spawnSync('reg', ['query', 'HKLM\\Software\\PortcullisEnforcement'], { stdio: 'ignore' })
  return `${readFileSync('C:\\policies.reg', 'utf16le')}own key: ${own.status === 0 ? 'present' : 'missing'}`
}

const standIn = (koffi: Koffi): DeviceCalls => {
  const machine = createWindowsMachine({ raw: createRegistryApi(koffi) })
  let plugged: DeviceReport[] = existsSync(PLUGGED) ? JSON.parse(readFileSync(PLUGGED, 'utf8')) : []
  for (const device of plugged) machine.plug(device)
  let mirror: ((nodes: readonly RawNode[]) => void) | undefined
  function show(): void {
    // After the agent has declared the structures of the setup API.
    mirror ??= createMirror(koffi)
    mirror(machine.nodes())
  }
  const shown = <A extends readonly unknown[], R>(call: (...given: A) => R) => {
    return (...given: A): R => {
      const result = call(...given)
      show()
      return result
    }
  }
  async function obey(url: string): Promise<void> {
    const { plug, unplug, report } = (await (await fetch(url)).json()) as Order
    const answer = (body: object) => fetch(url, { method: 'POST', body: JSON.stringify(body) })
    if (plug !== undefined || unplug !== undefined) {
      for (const device of plug ?? []) machine.plug(device)
      for (const port of unplug ?? []) machine.unplug(port)
      plugged = [...plugged.filter(({ portPath }) => unplug?.includes(portPath) !== true), ...(plug ?? [])]
      writeFileSync(PLUGGED, JSON.stringify(plugged))
      show()
      await answer({ changedAt: Date.now() })
      await announce(plug === undefined ? REMOVAL : ARRIVAL)
    }
    if (report !== undefined)
      await answer({
        working: plugged.map(({ portPath }) => portPath).filter((port) => machine.works(port)),
        policies: report === 'policies' ? exported() : '',
      })
  }
  // The other commands of the agent end before they would obey.
  if (process.argv[2] === 'service') {
    const url = readFileSync(ORDERS, 'utf8')
    void (async () => {
      for (;;) {
        await sleep(50)
        await obey(url).catch(() => undefined)
      }
    })()
  }
  const { calls } = machine
  return {
    uninstall: shown(calls.uninstall),
    disable: shown(calls.disable),
    enable: shown(calls.enable),
    install: shown(calls.install),
    rescan: shown(calls.rescan),
    cyclePort: shown(calls.cyclePort),
  }
}

startWindows(process.env, standIn)
