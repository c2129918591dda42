import { uptime } from 'node:os'
import { join } from 'node:path'
import { readIfThere } from '../../files.ts'
import type { Boot } from '../platform.ts'

export const currentBoot = (procRoot: string): Boot => {
  let id = ''
  try {
    id = (readIfThere(join(procRoot, 'sys/kernel/random/boot_id')) ?? '').trim()
  } catch {
    // The times of changes are then less exact, as for changes of an earlier boot.
  }
  return { id, elapsed: () => Math.round(uptime() * 1_000) }
}
