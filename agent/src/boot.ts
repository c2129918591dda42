import { uptime } from 'node:os'
import { join } from 'node:path'
import { readIfThere } from './files.ts'

/** The current boot of the host. It orders changes in time even if the host clock jumps. */
export interface Boot {
  /** Identifies the boot. Empty if unknown. An unknown boot differs from every other boot. */
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
