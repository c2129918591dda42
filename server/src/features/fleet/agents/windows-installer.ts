import { closeSync, createReadStream, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'

interface Slot {
  offset: number
  length: number
}

interface Manifest {
  version: string
  name: string
  size: number
  slots: { PresetServer: Slot; PresetToken: Slot }
}

/** Start of an empty slot (scripts/msi/wxs.ts). */
const EMPTY = 'PORTCULLIS-SLOT-'

/** Returns a value with the length of its slot. The agent removes the spaces. */
const padded = (value: string, { length }: Slot): Buffer => {
  if (!/^[!-~]+$/.test(value) || value.length > length)
    throw new RangeError('The value is too long for the installer, or contains spaces.')
  return Buffer.from(value.padEnd(length))
}

/** Provides the Windows installer and fills its slots with an address and a token. */
export const createWindowsInstallers = (dir: string) => {
  function manifest(): Manifest | null {
    try {
      const found = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8')) as Manifest
      return statSync(join(dir, found.name)).size === found.size ? found : null
    } catch {
      return null
    }
  }

  /** Refuses a file whose slots are at other positions, because writing to it would damage it. */
  function assertEmpty(file: string, slots: readonly Slot[]): void {
    const handle = openSync(file, 'r')
    try {
      for (const { offset } of slots) {
        const start = Buffer.alloc(EMPTY.length)
        readSync(handle, start, 0, start.length, offset)
        if (start.toString('latin1') !== EMPTY)
          throw new Error(`${file} does not match its manifest. Build the installer again.`)
      }
    } finally {
      closeSync(handle)
    }
  }

  return {
    /** Returns name and version; null if the server has none */
    describe(): { name: string; version: string } | null {
      const found = manifest()
      return found === null ? null : { name: found.name, version: found.version }
    },
    /** Returns the installer without a token, signed if the build signed it; null without an installer. */
    plain(): { name: string; size: number; stream: Readable } | null {
      const found = manifest()
      if (found === null) return null
      const signed = join(dir, found.name.replace(/\.msi$/, '-signed.msi'))
      const file = existsSync(signed) ? signed : join(dir, found.name)
      return { name: found.name, size: statSync(file).size, stream: createReadStream(file) }
    },
    /** Returns the installer with these values; null without an installer. */
    fill({ server, token }: { server: string; token: string }) {
      const found = manifest()
      if (found === null) return null
      const file = join(dir, found.name)
      const values = [
        { slot: found.slots.PresetServer, value: padded(server, found.slots.PresetServer) },
        { slot: found.slots.PresetToken, value: padded(token, found.slots.PresetToken) },
      ].toSorted((a, b) => a.slot.offset - b.slot.offset)
      assertEmpty(
        file,
        values.map(({ slot }) => slot),
      )
      async function* parts(): AsyncGenerator<Buffer> {
        let start = 0
        for (const { slot, value } of values) {
          yield* createReadStream(file, { start, end: slot.offset - 1 })
          yield value
          start = slot.offset + slot.length
        }
        yield* createReadStream(file, { start })
      }
      return {
        name: found.name,
        version: found.version,
        size: found.size,
        stream: Readable.from(parts(), { objectMode: false }),
      }
    },
  }
}
export type WindowsInstallers = ReturnType<typeof createWindowsInstallers>
