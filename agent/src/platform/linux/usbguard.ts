import { join } from 'node:path'
import { list, read } from './read.ts'

const DAEMON = 'usbguard-daemon'

const processes = (procRoot: string): string[] => list(procRoot).filter((name) => /^[0-9]+$/.test(name))

/**
 * Returns why another program controls the USB devices of this host, or undefined. Two programs that write the same
 * attributes would undo each other's changes.
 */
export const findOtherController = ({
  procRoot,
  etcRoot,
}: {
  procRoot: string
  etcRoot: string
}): string | undefined => {
  if (processes(procRoot).some((pid) => read(join(procRoot, pid, 'comm')).trim() === DAEMON))
    return `USBGuard is running on this host (${DAEMON}). Stop and disable it first.`
  if (/^[ \t]*ImplicitPolicyTarget[ \t]*=/m.test(read(join(etcRoot, 'usbguard/usbguard-daemon.conf'))))
    return 'USBGuard is configured on this host (ImplicitPolicyTarget in usbguard-daemon.conf). Remove it first.'
  return undefined
}
