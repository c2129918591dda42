import type { Processes } from '../platform.ts'
import { read } from './read.ts'

export const linuxProcesses: Processes = {
  /**
   * Returns field 22 of /proc/<pid>/stat. The command name before it may contain blanks and parentheses, so the count
   * starts at the last `)`. A zombie (state Z) has ended.
   */
  startTime(pid) {
    const stat = read(`/proc/${pid}/stat`)
    const [state, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? '' : (more[18] ?? '')
  },
  boot: () => read('/proc/sys/kernel/random/boot_id').trim(),
}
