import { uptime } from 'node:os'
import { join } from 'node:path'
import { readIfThere } from './files.ts'

/** The running boot of the host, which orders changes in time although the host clock may jump. */
export interface Boot {
  /** Names the boot. Empty if unknown, and then equal to no other. */
  id: string
  /** Milliseconds since the boot, including suspension. */
  elapsed(): number
}

export const currentBoot = (procRoot: string): Boot => {
  let id = ''
  try {
    id = (readIfThere(join(procRoot, 'sys/kernel/random/boot_id')) ?? '').trim()
  } catch {
    // Changes then count as changes of an earlier boot, which are less exact.
  }
  return { id, elapsed: () => Math.round(uptime() * 1_000) }
}
