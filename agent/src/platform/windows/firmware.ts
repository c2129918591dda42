import type { Koffi } from './koffi.ts'

const RSMB = 0x52534d42
const MAX_BYTES = 1024 * 1024

/** Returns a function that reads the SMBIOS table; empty if Windows has no table. */
export const createFirmware = (koffi: Koffi): (() => Uint8Array) => {
  const getTable = koffi
    .load('kernel32.dll')
    .func('uint32 GetSystemFirmwareTable(uint32 provider, uint32 id, _Out_ uint8_t* buffer, uint32 size)')
  return () => {
    const size = Number(getTable(RSMB, 0, null, 0))
    if (size === 0 || size > MAX_BYTES) return new Uint8Array()
    const buffer = Buffer.alloc(size)
    const written = Number(getTable(RSMB, 0, buffer, size))
    return written > size ? new Uint8Array() : buffer.subarray(0, written)
  }
}
