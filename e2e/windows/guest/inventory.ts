/** Runs under Wine: writes the devices of a file into the registry of Wine, then reads them with the agent's inventory. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type HubData, type RawNode, windowsScan } from '../../../agent/src/platform/windows/inventory.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createSetupApi } from '../../../agent/src/platform/windows/setup-api.ts'
import { createAttach, type FixtureNode } from './devices.ts'

interface Fixture {
  nodes: FixtureNode[]
  /** By port, with base64 descriptors. */
  hub: Record<string, Omit<HubData, 'descriptors'> & { descriptors: string }>
}

const koffi = loadKoffi()
const api = createSetupApi(koffi)
const { nodes, hub } = JSON.parse(readFileSync('Z:\\agent\\fixture.json', 'utf8')) as Fixture

createAttach(koffi)(nodes)

const read: RawNode[] = [...api.nodes()]
const began = process.cpuUsage()
const stamp = api.stamp()
const { user, system } = process.cpuUsage(began)
const { devices, phantoms, problems } = windowsScan(read, (_hub, port) => {
  const data = hub[port]
  return data === undefined ? undefined : { ...data, descriptors: Buffer.from(data.descriptors, 'base64') }
})
writeFileSync(
  'Z:\\agent\\scan.json',
  JSON.stringify({
    devices: [...devices.values()],
    phantoms,
    problems,
    stampLines: stamp.split('\n').length - 1,
    stampMs: (user + system) / 1000,
  }),
)
