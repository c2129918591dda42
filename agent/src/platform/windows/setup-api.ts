import type { RawNode } from './inventory.ts'
import { guidBytes, type Koffi } from './koffi.ts'
import { MAX_PROPERTY_BYTES, PROPERTIES, type PropertyName } from './properties.ts'

const DIGCF_PRESENT = 2
const DIGCF_ALLCLASSES = 4
/** Twice the characters that Windows allows. Longer IDs are invalid. */
const ID_CHARACTERS = 400

/** A device in a list of Windows (SP_DEVINFO_DATA). Windows fills it. */
interface DevInfo {
  cbSize: number
  g: Uint8Array
  DevInst: number
  Reserved: number
}

/** Enumerators whose devices belong to the inventory: USB devices with their interfaces, and HID functions. */
const ENUMERATORS = ['USB', 'HID'] as const
/** Enumerators between a USB device, or the mainboard, and the disks and input devices that a host needs. */
export const NEEDED_ENUMERATORS = [
  ...ENUMERATORS,
  ...['USBSTOR', 'SCSI', 'ACPI', 'BTH', 'BTHENUM', 'BTHLE', 'BTHLEDEVICE'],
] as const

/** Reads the Plug and Play devices of Windows (setupapi.dll). */
export const createSetupApi = (koffi: Koffi) => {
  koffi.struct('SP_DEVINFO_DATA', {
    cbSize: 'uint32',
    g: koffi.array('uint8', 16, 'Typed'),
    DevInst: 'uint32',
    Reserved: 'uintptr',
  })
  koffi.struct('DEVPROPKEY', { fmtid: koffi.array('uint8', 16, 'Typed'), pid: 'uint32' })
  const library = koffi.load('setupapi.dll')
  const getClassDevs = library.func('void* SetupDiGetClassDevsW(void* g, str16 e, void* h, uint32 f)')
  const destroyList = library.func('bool SetupDiDestroyDeviceInfoList(void* h)')
  const enumInfo = library.func('bool SetupDiEnumDeviceInfo(void* h, uint32 i, _Inout_ SP_DEVINFO_DATA* d)')
  const getId = library.func(
    'bool SetupDiGetDeviceInstanceIdW(void* h, SP_DEVINFO_DATA* d, _Out_ uint16_t* b, uint32 n, void* r)',
  )
  const getProperty = library.func(
    'bool SetupDiGetDevicePropertyW(void* h, SP_DEVINFO_DATA* d, DEVPROPKEY* k, _Out_ uint32* t, _Out_ uint8_t* b, uint32 n, _Out_ uint32* r, uint32 f)',
  )
  const keys = Object.entries(PROPERTIES).map(
    ([name, [fmtid, pid]]) => [name as PropertyName, { fmtid: guidBytes(fmtid), pid }] as const,
  )
  const id = new Uint16Array(ID_CHARACTERS)
  const value = new Uint8Array(MAX_PROPERTY_BYTES)

  function* list(enumerator: string, flags: number): Generator<{ handle: unknown; info: DevInfo; id?: string }> {
    const handle = getClassDevs(null, enumerator, null, flags)
    try {
      for (let index = 0; ; index++) {
        const info: DevInfo = { cbSize: 32, g: new Uint8Array(16), DevInst: 0, Reserved: 0 }
        if (!enumInfo(handle, index, info)) return
        if (!getId(handle, info, id, id.length, null)) yield { handle, info }
        else yield { handle, info, id: String.fromCharCode(...id.subarray(0, Math.max(0, id.indexOf(0)))) }
      }
    } finally {
      destroyList(handle)
    }
  }

  const propertiesOf = (handle: unknown, info: DevInfo): RawNode['properties'] => {
    const found: RawNode['properties'] = {}
    for (const [name, key] of keys) {
      const type = [0]
      const size = [0]
      const isRead = getProperty(handle, info, key, type, value, value.length, size, 0)
      const length = size[0] ?? 0
      if (isRead) found[name] = { type: type[0] ?? 0, data: value.slice(0, length) }
      // The value is larger than the buffer. Other errors mean that the device does not have the property.
      else if (length > value.length) found[name] = { type: type[0] ?? 0 }
    }
    return found
  }

  return {
    /** Reads attached devices with their properties, then the IDs of detached USB devices. */
    *nodes(enumerators: readonly string[] = ENUMERATORS): Generator<RawNode> {
      const present = new Set<string>()
      for (const enumerator of enumerators)
        for (const { handle, info, id: instanceId } of list(enumerator, DIGCF_ALLCLASSES | DIGCF_PRESENT)) {
          if (instanceId !== undefined) present.add(instanceId)
          yield { instanceId, isPresent: true, properties: propertiesOf(handle, info) }
        }
      for (const { id: instanceId } of list('USB', DIGCF_ALLCLASSES))
        if (instanceId !== undefined && !present.has(instanceId)) yield { instanceId, isPresent: false, properties: {} }
    },
    /** Returns a text that changes when a USB device is attached or removed. Reads no properties. */
    stamp(): string {
      let text = ''
      for (const { id: instanceId } of list('USB', DIGCF_ALLCLASSES | DIGCF_PRESENT)) text += `${instanceId ?? ''}\n`
      return text
    },
  }
}
