/** Writes devices into the registry of Wine, as Windows does when they are attached. */
import { guidBytes, type Koffi } from '../../../agent/src/platform/windows/koffi.ts'
import { PROPERTIES, type PropertyName } from '../../../agent/src/platform/windows/properties.ts'

/** A device with its properties: name, type and base64 data. */
export interface FixtureNode {
  instanceId: string
  properties: [PropertyName, number, string][]
}

const must = (done: unknown, what: string): void => {
  if (done !== true) throw new Error(`${what} failed`)
}

/** Returns a function that attaches devices. Create the functions of the setup API first. */
export const createAttach = (koffi: Koffi) => {
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

  return (nodes: readonly FixtureNode[]): void => {
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
  }
}
