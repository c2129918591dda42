import { randomUUID } from 'node:crypto'
import { uptime } from 'node:os'
import type { Registry, RegistryKey } from './registry.ts'

/** Only administrators can change it. It disappears when the agent is uninstalled or Windows restarts. */
export const BOOT_KEY = 'HKLM\\SOFTWARE\\Portcullis Agent Boot' satisfies RegistryKey
const ID = /^[0-9a-f-]{36}$/

/**
 * Returns the current boot of Windows. Windows documents no identifier of a boot: its boot time changes with the clock,
 * and `BootId` below `PrefetchParameters` is not documented. A volatile key exists exactly until the next restart. A
 * shutdown with fast startup keeps the key and does not reset the time since the boot.
 */
export const windowsBoot = (registry: Registry) => {
  let id = ''
  try {
    registry.createVolatile(BOOT_KEY)
    const known = registry.readText(BOOT_KEY, 'Id') ?? ''
    id = ID.test(known) ? known : randomUUID()
    if (id !== known) registry.writeText(BOOT_KEY, 'Id', id)
  } catch {
    // The times of changes are then less exact, as for changes of an earlier boot.
    id = ''
  }
  // GetTickCount64, which includes suspension.
  return { id, elapsed: (): number => Math.round(uptime() * 1000) }
}
