import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { HostNeeds } from '../platform.ts'
import { list, read } from './read.ts'

/** Mount points that the system needs to run. Disks with other mount points follow the policy. */
const NEEDED_MOUNTS: ReadonlySet<string> = new Set(['/', '/boot', '/boot/efi', '/efi', '/usr', '/var'])
const PORT = /^[0-9]{1,3}-[0-9]{1,3}(\.[0-9]{1,3}){0,7}$/
/** Bits 1 to 31 of a KEY bitmap: Esc, digits and Q to D. udev calls a device with all of them a keyboard. */
const FULL_KEYBOARD = 0xffff_fffen
/** Maximum depth of stacked block devices. Encryption on LVM on RAID has three levels. */
const MAX_STACK = 8

/** Replaces the octal escapes of mountinfo and swaps (`\040` for a blank). */
const unescapeMount = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/**
 * Reads keyboards and disks from `/proc` and `/sys`.
 *
 * @param procRoot directory to use instead of `/proc`
 * @param sysfsRoot directory to use instead of `/sys`
 */
export const createHostNeeds = ({ procRoot, sysfsRoot }: { procRoot: string; sysfsRoot: string }): HostNeeds => {
  /** Returns the directory of a block device below /sys/devices, or undefined. */
  function real(path: string): string | undefined {
    try {
      return realpathSync(path)
    } catch {
      return undefined
    }
  }

  /** Returns the block device of a device mapper name, which has no entry in /sys/class/block. */
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
        // A virtual keyboard may be a program, or a wireless keyboard whose adapter is about to be blocked.
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
        // btrfs has an anonymous device number (0:…), so the source is looked up by name.
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
