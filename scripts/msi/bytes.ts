/** Finds and changes values in the bytes of a package. */
import { emptySlot, SLOTS } from './wxs.ts'

/** Identifier of the summary information in its stream (FMTID_SummaryInformation). */
const SUMMARY = Buffer.from('e0859ff2f94f6810ab9108002b27b3d9', 'hex')
/** Length of the header of a property set before the identifier. */
const HEADER = 28
const CREATED = 12
const SAVED = 13
const FILETIME = 64
/** Seconds from 1601, the epoch of Windows, to 1970. */
const EPOCH = 11_644_473_600

/** Returns the only position of `text`. Throws if it occurs more than once, because the others would stay unchanged. */
const onlyPosition = (content: Buffer, text: Uint8Array | string, what: string): number => {
  const at = content.indexOf(text)
  if (at === -1 || content.indexOf(text, at + 1) !== -1)
    throw new Error(`The package must contain exactly one ${what}.`)
  return at
}

/** Sets the times of the package, so that builds are reproducible. */
export const setTimes = (content: Buffer, seconds: number): void => {
  const stream = onlyPosition(content, SUMMARY, 'summary') - HEADER
  const section = stream + content.readUInt32LE(stream + HEADER + SUMMARY.length)
  const count = content.readUInt32LE(section + 4)
  for (let i = 0; i < count; i++) {
    const id = content.readUInt32LE(section + 8 + 8 * i)
    const value = section + content.readUInt32LE(section + 12 + 8 * i)
    if (id !== CREATED && id !== SAVED) continue
    if (content.readUInt32LE(value) !== FILETIME) throw new Error('The summary of the package has an unknown format.')
    content.writeBigUInt64LE(BigInt(seconds + EPOCH) * 10_000_000n, value + 4)
  }
}

export interface Slot {
  /** Position of the first byte in the package. */
  offset: number
  /** Length in bytes. Shorter values are padded with spaces. */
  length: number
}

/**
 * Returns the positions at which a server writes the address and the token. The text of a slot is contiguous in the
 * file.
 */
export const findSlots = (content: Buffer): Record<keyof typeof SLOTS, Slot> => {
  const slot = (name: keyof typeof SLOTS): Slot => ({
    offset: onlyPosition(content, emptySlot(name), name),
    length: SLOTS[name],
  })
  return { PresetServer: slot('PresetServer'), PresetToken: slot('PresetToken') }
}
