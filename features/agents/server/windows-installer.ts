import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SharedFiles } from '@portcullis/platform/server/shared-files.ts'

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
export const createWindowsInstallers = (dir: string, files: SharedFiles) => {
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
    plain(): { name: string; path: string } | null {
      const found = manifest()
      if (found === null) return null
      const signed = join(dir, found.name.replace(/\.msi$/, '-signed.msi'))
      return { name: found.name, path: existsSync(signed) ? signed : join(dir, found.name) }
    },
    /** Returns the installer with these values; null without an installer. */
    async fill({ server, token }: { server: string; token: string }) {
      const found = manifest()
      if (found === null) return null
      const file = join(dir, found.name)
      const values = [
        { slot: found.slots.PresetServer, value: padded(server, found.slots.PresetServer) },
        { slot: found.slots.PresetToken, value: padded(token, found.slots.PresetToken) },
      ]
      assertEmpty(
        file,
        values.map(({ slot }) => slot),
      )
      const patches = values.map(({ slot, value }) => ({ offset: slot.offset, bytes: value }))
      const { stream, size } = await files.read(file, patches)
      return { name: found.name, version: found.version, size, stream }
    },
  }
}
export type WindowsInstallers = ReturnType<typeof createWindowsInstallers>
