const HEADER = 64
const SECTION = 64
const ALLOCATED = 2n
const NO_BITS = 8

/**
 * Returns a 64-bit little-endian ELF program without the sections that are not loaded: symbols and debug information.
 * Unlike the `strip` of a system, it handles programs of all processors, and the same input has the same result on every
 * machine.
 *
 * @param {Buffer} program
 * @returns {Buffer}
 * @throws Error if the file is not such a program, or if it is laid out in an unknown way
 */
export function stripElf(program) {
  // ELF, 64 bits, little-endian.
  if (program.length < HEADER || program.readUIntBE(0, 6) !== 0x7f454c460201)
    throw new Error('The file is not a 64-bit little-endian ELF program.')
  const start = Number(program.readBigUInt64LE(40))
  const [size, count, namesAt] = [58, 60, 62].map((at) => program.readUInt16LE(at))
  if (size !== SECTION || count === 0 || start + count * SECTION > program.length)
    throw new Error('The program has no section headers.')
  const sections = Array.from({ length: count }, (_, i) => {
    const header = program.subarray(start + i * SECTION, start + (i + 1) * SECTION)
    return {
      header,
      isLoaded: (header.readBigUInt64LE(8) & ALLOCATED) !== 0n,
      offset: Number(header.readBigUInt64LE(24)),
      size: header.readUInt32LE(4) === NO_BITS ? 0 : Number(header.readBigUInt64LE(32)),
    }
  })
  const kept = sections.findLastIndex(({ isLoaded }) => isLoaded) + 1
  const names = sections[namesAt]
  const firstRemoved = sections.slice(kept).reduce((least, { offset }) => Math.min(least, offset), start)
  const end = endOf(program, sections.slice(0, kept))
  // Section 0 is empty. Kept sections must come first, so that their numbers and places stay valid.
  if (kept === 0 || names === undefined || end > firstRemoved || sections.slice(1, kept).some((one) => !one.isLoaded))
    throw new Error('The program has sections in an unknown order.')
  const nameHeader = Buffer.from(names.header)
  nameHeader.writeBigUInt64LE(BigInt(end), 24)
  const padding = (8 - ((end + names.size) % 8)) % 8
  const table = end + names.size + padding
  const header = Buffer.from(program.subarray(0, HEADER))
  header.writeBigUInt64LE(BigInt(table), 40)
  header.writeUInt16LE(kept + 1, 60)
  header.writeUInt16LE(kept, 62)
  return Buffer.concat([
    header,
    program.subarray(HEADER, end),
    program.subarray(names.offset, names.offset + names.size),
    Buffer.alloc(padding),
    ...sections.slice(0, kept).map((one) => one.header),
    nameHeader,
  ])
}

/** Returns the end of the last segment or section that is loaded. */
function endOf(program, sections) {
  const start = Number(program.readBigUInt64LE(32))
  const [size, count] = [54, 56].map((at) => program.readUInt16LE(at))
  const ends = Array.from({ length: count }, (_, i) => {
    const at = start + i * size
    return Number(program.readBigUInt64LE(at + 8) + program.readBigUInt64LE(at + 32))
  })
  return Math.max(...ends, ...sections.map((one) => one.offset + one.size))
}
