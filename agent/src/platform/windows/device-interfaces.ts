import { guidBytes, type Koffi } from './koffi.ts'

/** DIGCF_PRESENT and DIGCF_DEVICEINTERFACE. */
const PRESENT_INTERFACES = 0x12
/** SP_DEVICE_INTERFACE_DATA of 64-bit Windows. */
const INTERFACE_BYTES = 32
/** Size of the fixed part of SP_DEVICE_INTERFACE_DETAIL_DATA_W in 64-bit Windows. The path begins at byte 4. */
const DETAIL_BYTES = 8
const MAX_DETAIL_BYTES = 2048
const MAX_INTERFACES = 1024

/** Returns the paths of present interfaces of a class: those of one device, or at most 1,024 of all devices. */
export type DeviceInterfaces = (interfaceClass: string, instanceId?: string) => string[]

export const createDeviceInterfaces = (koffi: Koffi): DeviceInterfaces => {
  // CM_Get_Device_Interface_List would be simpler, but Wine ends the process on it.
  const setup = koffi.load('setupapi.dll')
  const getList = setup.func('void* SetupDiGetClassDevsW(uint8_t* guid, str16 id, void* window, uint32 flags)')
  const enumerate = setup.func(
    'bool SetupDiEnumDeviceInterfaces(void* list, void* device, uint8_t* guid, uint32 index, _Inout_ uint8_t* found)',
  )
  const getDetail = setup.func(
    'bool SetupDiGetDeviceInterfaceDetailW(void* list, uint8_t* found, _Inout_ uint8_t* detail, uint32 size, void* needed, void* device)',
  )
  const destroyList = setup.func('bool SetupDiDestroyDeviceInfoList(void* list)')

  return (interfaceClass, instanceId) => {
    const guid = guidBytes(interfaceClass)
    const list = getList(guid, instanceId ?? null, null, PRESENT_INTERFACES)
    const paths: string[] = []
    try {
      for (let index = 0; index < MAX_INTERFACES; index++) {
        const found = Buffer.alloc(INTERFACE_BYTES)
        found.writeUInt32LE(INTERFACE_BYTES)
        if (enumerate(list, null, guid, index, found) !== true) break
        const detail = Buffer.alloc(MAX_DETAIL_BYTES)
        detail.writeUInt32LE(DETAIL_BYTES)
        if (getDetail(list, found, detail, detail.length, null, null) !== true) continue
        const [path] = detail.toString('utf16le', 4).split('\0', 1)
        if (path) paths.push(path)
      }
      return paths
    } finally {
      destroyList(list)
    }
  }
}
