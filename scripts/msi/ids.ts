/** Identifiers of the Windows Installer package. */
import { createHash } from 'node:crypto'

/** Never changes, because Windows finds the installed version by it. */
export const UPGRADE_CODE = '{6F2B8C1E-5D0A-4E53-9B57-3C2A9D1F7E40}'

/** Returns the version 5 UUID of a name, in the form of the Windows Installer. */
export const guidOf = (name: string): string => {
  const space = Buffer.from(UPGRADE_CODE.replaceAll(/[{}-]/g, ''), 'hex')
  const hash = createHash('sha1').update(space).update(name).digest().subarray(0, 16)
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = hash.toString('hex').toUpperCase()
  return `{${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}}`
}
