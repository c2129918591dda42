/**
 * Runs the agent for Windows under Wine, with a stand-in for the calls that change devices, which Wine does not
 * support. Uses the registry and the device list of Wine. The test sends orders to attach devices.
 */
import type { DeviceReport } from '@portcullis/contract/agent-protocol'
import type { DeviceCalls } from '../../../agent/src/platform/windows/enforcement/device-calls.ts'
import type { RawNode } from '../../../agent/src/platform/windows/inventory.ts'
import { type Koffi, loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import type { PropertyName } from '../../../agent/src/platform/windows/properties.ts'
import { createRegistryApi } from '../../../agent/src/platform/windows/registry-api.ts'
import { createWindows } from '../../../agent/src/platform/windows/windows.ts'
import { startProgram } from '../../../agent/src/program.ts'
import { createWindowsMachine } from '../../../agent/test/windows-machine.ts'
import { ARRIVAL, announce } from './announce.ts'
import { createAttach, type FixtureNode } from './devices.ts'

interface Order {
  plug?: DeviceReport
}

const ENUM = 'SYSTEM\\CurrentControlSet\\Enum'
const LOCAL_MACHINE = 0x8000_0002
const [url = '', ...args] = process.argv.slice(2)
process.argv = [...process.argv.slice(0, 2), ...args]

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
    for (const [id, text] of wanted) if (written.get(id) !== text) attach([JSON.parse(text)])
    written = wanted
  }
}

const standIn = (koffi: Koffi): DeviceCalls => {
  const machine = createWindowsMachine({ raw: createRegistryApi(koffi) })
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
  async function obey(): Promise<void> {
    const order = (await (await fetch(url)).json()) as Order
    if (order.plug === undefined) return
    machine.plug(order.plug)
    show()
    await announce(ARRIVAL)
  }
  const next = (): void =>
    void setTimeout(
      () =>
        void obey()
          .catch(() => undefined)
          .then(next),
      50,
    )
  next()
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

startProgram(process.env, createWindows(process.env, loadKoffi, standIn))
