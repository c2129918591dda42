/** Runs under Wine: writes the devices of a file into the registry of Wine, then reads them with the agent's inventory. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type HubData, type RawNode, windowsScan } from '../../../agent/src/platform/windows/inventory.ts'
import { guidBytes, loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { PROPERTIES, type PropertyName } from '../../../agent/src/platform/windows/properties.ts'
import { createSetupApi } from '../../../agent/src/platform/windows/setup-api.ts'

interface Fixture {
  nodes: { instanceId: string; properties: [PropertyName, number, string][] }[]
  /** By port, with base64 descriptors. */
  hub: Record<string, Omit<HubData, 'descriptors'> & { descriptors: string }>
}

const koffi = loadKoffi()
const api = createSetupApi(koffi)
const { nodes, hub } = JSON.parse(readFileSync('Z:\\agent\\fixture.json', 'utf8')) as Fixture

const library = koffi.load('setupapi.dll')
const createList = library.func('void* SetupDiCreateDeviceInfoList(void* g, void* w)')
const createInfo = library.func(
  'bool SetupDiCreateDeviceInfoW(void* h, str16 n, uint8_t* g, str16 d, void* w, uint32 f, _Inout_ SP_DEVINFO_DATA* o)',
)
const register = library.func(
  'bool SetupDiRegisterDeviceInfo(void* h, _Inout_ SP_DEVINFO_DATA* d, uint32 f, void* c, void* x, void* o)',
)
const setProperty = library.func(
  'bool SetupDiSetDevicePropertyW(void* h, SP_DEVINFO_DATA* d, DEVPROPKEY* k, uint32 t, uint8_t* b, uint32 n, uint32 f)',
)
const must = (done: unknown, what: string): void => {
  if (done !== true) throw new Error(`${what} failed`)
}

const list = createList(null, null)
for (const { instanceId, properties } of nodes) {
  const info = { cbSize: 32, g: new Uint8Array(16), DevInst: 0, Reserved: 0 }
  const usbClass = guidBytes('36fc9e60-c465-11cf-8056-444553540000')
  must(createInfo(list, instanceId, usbClass, null, null, 0, info), `creating ${instanceId}`)
  must(register(list, info, 0, null, null, null), `registering ${instanceId}`)
  for (const [name, type, base64] of properties) {
    const [fmtid, pid] = PROPERTIES[name]
    const data = Buffer.from(base64, 'base64')
    must(
      setProperty(list, info, { fmtid: guidBytes(fmtid), pid }, type, data, data.length, 0),
      `writing ${name} of ${instanceId}`,
    )
  }
}

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
