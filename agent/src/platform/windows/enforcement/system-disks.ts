import { createDeviceInterfaces } from '../device-interfaces.ts'
import type { Koffi } from '../koffi.ts'
import { type Registry, textOf } from '../registry.ts'

const DISK_INTERFACE = '53f56307-b6bf-11d0-94f2-00a0c91efb8b'
const IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS = 0x560000
const IOCTL_STORAGE_GET_DEVICE_NUMBER = 0x2d1080
const SHARE_ALL = 3
const OPEN_EXISTING = 3
const MAX_EXTENTS = 32
const EXTENT_BYTES = 24

/** Returns the instance ID in a path such as `\\?\usbstor#disk&ven_x#serial&0#{guid}`. Undefined for other paths. */
export const instanceIdOfPath = (path: string): string | undefined => {
  const [, enumerator, device, instance] = /^\\\\\?\\([^#]+)#([^#]+)#([^#]+)#\{[0-9a-f-]{36}\}$/i.exec(path) ?? []
  return enumerator && device && instance ? `${enumerator}\\${device}\\${instance}`.toUpperCase() : undefined
}

/** Finds the disks that Windows runs from: those of the system drive and of the boot files. */
export const createSystemDisks = (koffi: Koffi, registry: Registry, systemRoot: string): (() => string[]) => {
  const kernel = koffi.load('kernel32.dll')
  const interfaces = createDeviceInterfaces(koffi)
  const createFile = kernel.func(
    'intptr CreateFileW(str16 name, uint32 access, uint32 share, void* security, uint32 how, uint32 flags, void* template)',
  )
  const control = kernel.func(
    'int32 DeviceIoControl(intptr file, uint32 code, void* input, uint32 size, _Out_ uint8_t* output, uint32 room, _Out_ uint8_t* length, void* overlapped)',
  )
  const close = kernel.func('int32 CloseHandle(intptr handle)')

  /** Queries a volume or disk. Needs no access rights. */
  function ask(path: string, code: number): Buffer | undefined {
    const file = createFile(path, 0, SHARE_ALL, null, OPEN_EXISTING, 0, null)
    if (BigInt(file as number) === -1n) return undefined
    const output = Buffer.alloc(8 + MAX_EXTENTS * EXTENT_BYTES)
    const isDone = control(file, code, null, 0, output, output.length, Buffer.alloc(4), null) !== 0
    close(file)
    return isDone ? output : undefined
  }

  /** Returns the numbers of the disks of a volume (VOLUME_DISK_EXTENTS). */
  function disksOf(volume: string): number[] {
    const output = ask(volume, IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS)
    const count = Math.min(output?.readUInt32LE(0) ?? 0, MAX_EXTENTS)
    return Array.from({ length: count }, (_, index) => output?.readUInt32LE(8 + index * EXTENT_BYTES) ?? 0)
  }

  return () => {
    const boot = registry.read('HKLM\\System\\Setup', 'SystemPartition')
    const device = (boot && textOf(boot)) ?? ''
    const volumes = [`\\\\.\\${systemRoot.slice(0, 2)}`, ...(device === '' ? [] : [`\\\\?\\GLOBALROOT${device}`])]
    const numbers = new Set(volumes.flatMap(disksOf))
    return interfaces(DISK_INTERFACE).flatMap((path) => {
      // STORAGE_DEVICE_NUMBER: type, number of the disk, partition.
      const number = ask(path, IOCTL_STORAGE_GET_DEVICE_NUMBER)?.readUInt32LE(4)
      const id = instanceIdOfPath(path)
      return number !== undefined && id !== undefined && numbers.has(number) ? [id] : []
    })
  }
}
