/** Parses the SMBIOS table, which the firmware or the hypervisor writes. */

export interface SmbiosFacts {
  vendor: string
  model: string
  sku: string
  /** Number of the chassis type, 0 if unknown. */
  chassis: number
  /** UUID of the system in lower case, as Linux prints it; empty if unknown. */
  uuid: string
}

const HEADER = 8
const SYSTEM = 1
const CHASSIS = 3
const END = 127
const MAX_STRUCTURES = 4096

/** Returns strings of a structure by their numbers, and the offset of the next structure. */
const stringsAt = (table: Buffer, start: number): { strings: string[]; next: number } => {
  const strings: string[] = []
  let at = start
  while (at < table.length && table[at] !== 0) {
    const end = table.indexOf(0, at)
    if (end < 0) return { strings, next: table.length }
    strings.push(table.toString('latin1', at, end).trim())
    at = end + 1
  }
  // A structure without strings also ends with two NULs.
  return { strings, next: at === start ? start + 2 : at + 1 }
}

/**
 * The first three parts are little-endian since SMBIOS 2.6. Linux follows the same rule, so the UUID is the same on
 * both systems.
 */
const uuidOf = (bytes: Buffer, isSwapped: boolean): string => {
  if (bytes.length < 16) return ''
  const order = isSwapped ? [3, 2, 1, 0, 5, 4, 7, 6] : [0, 1, 2, 3, 4, 5, 6, 7]
  const hex = Buffer.from([...order.map((at) => bytes[at] ?? 0), ...bytes.subarray(8, 16)]).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Reads the facts of a table as `GetSystemFirmwareTable` returns it (RawSMBIOSData). Never throws; unknown facts are empty. */
export const parseSmbios = (raw: Uint8Array): SmbiosFacts => {
  const facts: SmbiosFacts = { vendor: '', model: '', sku: '', chassis: 0, uuid: '' }
  if (raw.length < HEADER) return facts
  const all = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const isSwapped = (all[1] ?? 0) > 2 || (all[1] === 2 && (all[2] ?? 0) >= 6)
  const table = all.subarray(HEADER, HEADER + all.readUInt32LE(4))
  const seen = new Set<number>()
  for (let at = 0, count = 0; at + 4 <= table.length && count < MAX_STRUCTURES; count++) {
    const [type = END, length = 0] = table.subarray(at, at + 2)
    if (type === END || length < 4 || at + length > table.length) break
    const structure = table.subarray(at, at + length)
    const { strings, next } = stringsAt(table, at + length)
    const text = (offset: number): string => strings[(structure[offset] ?? 0) - 1] ?? ''
    // The first structure of a type describes the main system.
    if (type === SYSTEM && !seen.has(type)) {
      facts.vendor = text(4)
      facts.model = text(5)
      facts.uuid = uuidOf(structure.subarray(8, 24), isSwapped)
      facts.sku = text(25)
    } else if (type === CHASSIS && !seen.has(type)) facts.chassis = (structure[5] ?? 0) & 0x7f
    seen.add(type)
    at = next
  }
  return facts
}
