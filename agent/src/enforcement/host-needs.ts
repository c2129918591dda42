import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** What the host cannot do without, read anew each time: it is asked for only before something is taken away. */
export interface HostNeeds {
  /** Keyboards that hang on no USB port (internal, PS/2). */
  otherKeyboards(): number
  /** Ports above and at the disks that the running system is on. */
  bootPorts(): ReadonlySet<string>
}

/** Without these the system does not go on; a data disk is the policy's business. */
const NEEDED_MOUNTS: ReadonlySet<string> = new Set(['/', '/boot', '/boot/efi', '/efi', '/usr', '/var'])
const PORT = /^[0-9]{1,3}-[0-9]{1,3}(\.[0-9]{1,3}){0,7}$/
/** Bits 1 to 31 of a KEY bitmap: Esc, digits and Q to D. udev calls a device with all of them a keyboard. */
const FULL_KEYBOARD = 0xffff_fffen
/** A stack of crypt on lvm on raid is three deep. */
const MAX_STACK = 8

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const list = (path: string): string[] => {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** Octal escapes of mountinfo and swaps (`\040` for a blank). */
const unescapeMount = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/**
 * Reads keyboards and disks from /proc and /sys.
 *
 * @param procRoot stands for `/proc`
 * @param sysfsRoot stands for `/sys`
 */
export const createHostNeeds = ({ procRoot, sysfsRoot }: { procRoot: string; sysfsRoot: string }): HostNeeds => {
  /** Directory of a block device below /sys/devices, or undefined. */
  function real(path: string): string | undefined {
    try {
      return realpathSync(path)
    } catch {
      return undefined
    }
  }

  /** Device mapper names have no entry of their own in /sys/class/block. */
  const mapped = (name: string): string | undefined =>
    list(join(sysfsRoot, 'class/block')).find(
      (block) => read(join(sysfsRoot, 'class/block', block, 'dm/name')).trim() === name,
    )

  function bySource(source: string): string | undefined {
    if (!source.startsWith('/dev/')) return undefined
    const name = basename(source)
    const block = dirname(source) === '/dev/mapper' ? mapped(name) : name
    return block === undefined ? undefined : real(join(sysfsRoot, 'class/block', block))
  }

  function addPorts(dir: string, ports: Set<string>, depth: number): void {
    for (const segment of dir.split('/')) if (PORT.test(segment)) ports.add(segment)
    if (depth === MAX_STACK) return
    for (const slave of list(join(dir, 'slaves'))) {
      const below = real(join(dir, 'slaves', slave))
      if (below !== undefined) addPorts(below, ports, depth + 1)
    }
  }

  return {
    otherKeyboards(): number {
      let count = 0
      for (const block of read(join(procRoot, 'bus/input/devices')).split('\n\n')) {
        const path = /^S: Sysfs=(.*)$/m.exec(block)?.[1] ?? ''
        const lowest = /^B: KEY=(?:.* )?([0-9a-f]+)\s*$/m.exec(block)?.[1] ?? '0'
        // Virtual ones are programs, or wireless ones that hang on an adapter which may be the thing to be blocked.
        if (path === '' || /\/usb[0-9]+\//.test(path) || path.includes('/virtual/')) continue
        if ((BigInt(`0x${lowest}`) & FULL_KEYBOARD) === FULL_KEYBOARD) count++
      }
      return count
    },

    bootPorts(): ReadonlySet<string> {
      const ports = new Set<string>()
      for (const line of read(join(procRoot, 'self/mountinfo')).split('\n')) {
        // 36 35 98:0 /root /mount options - type source (proc(5)); optional fields end with the hyphen.
        const [before = '', after = ''] = line.split(' - ')
        const [, , number = '', , mount = ''] = before.split(' ')
        if (!NEEDED_MOUNTS.has(unescapeMount(mount))) continue
        // btrfs has a number of its own (0:…), so its source is looked up by name.
        const dir = real(join(sysfsRoot, 'dev/block', number)) ?? bySource(unescapeMount(after.split(' ')[1] ?? ''))
        if (dir !== undefined) addPorts(dir, ports, 0)
      }
      for (const line of read(join(procRoot, 'swaps')).split('\n').slice(1)) {
        const dir = bySource(unescapeMount(line.split(/\s+/)[0] ?? ''))
        if (dir !== undefined) addPorts(dir, ports, 0)
      }
      return ports
    },
  }
}
