import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { arch, hostname, networkInterfaces, release } from 'node:os'
import { join } from 'node:path'
import { agentLimits, type HostFacts, type NicReport } from '@portcullis/contract/agent-protocol.ts'
import { chassisTypes, isPlaceholder, machineHash, parseOsRelease } from '@portcullis/domain'
import { attributeText, cutText } from '../../collectors/text.ts'
import type { FactsCollector, FactsDeps } from '../platform.ts'
import { list } from './read.ts'

export interface LinuxFactsDeps extends FactsDeps {
  /** Directory to use instead of `/sys`. */
  sysfsRoot: string
  /** Directory to use instead of `/etc`. */
  etcRoot: string
  /** Returns whether a file is lost at the next start. */
  isTemporary?: (path: string) => boolean
}

/** Types of tmpfs and ramfs. systemd mounts a machine ID from there if it cannot write to `/etc`. */
const MEMORY = new Set([0x01021994, 0x858458f6])
/** Arguments of live and stateless systems, which keep changes to `/etc` in memory. */
const VOLATILE = /\b(boot=(live|casper)|rd\.live\.image|systemd\.volatile=(yes|overlay)|overlayroot=tmpfs)\b/

const read = (path: string, max: number): string => {
  try {
    return (attributeText(readFileSync(path), max) ?? '').trim()
  } catch {
    return ''
  }
}

const macPattern = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/
/** Virtual links of containers change constantly and do not describe the hardware. */
const isTransient = (name: string): boolean => name.startsWith('veth')

const isLostAtStart = (path: string): boolean => {
  try {
    return MEMORY.has(statfsSync(path).type) || VOLATILE.test(read('/proc/cmdline', 4096))
  } catch {
    return false
  }
}

/** Creates a collector of host facts and of the hashes that identify the machine. */
const hexDigits = (id: string): string => id.toLowerCase().replace(/[^0-9a-f]/g, '')

export const createFactsCollector = ({
  sysfsRoot,
  etcRoot,
  agentVersion,
  localAddress,
  enforcement,
  releaseKey,
  // Another directory belongs to a test, and tests may run in memory.
  isTemporary = etcRoot === '/etc' ? isLostAtStart : () => false,
}: LinuxFactsDeps): FactsCollector => {
  const dmiDir = join(sysfsRoot, 'class/dmi/id')
  const dmi = (name: string, max: number): string => read(join(dmiDir, name), max)
  const named = (name: string): string => {
    const text = dmi(name, 120)
    return isPlaceholder(text) ? '' : text
  }

  function nics(): NicReport[] {
    const known = networkInterfaces()
    const inSysfs = list(join(sysfsRoot, 'class/net'))
    const names = inSysfs.length > 0 ? inSysfs : Object.keys(known)
    const found: NicReport[] = []
    for (const name of names.sort()) {
      if (name === 'lo' || isTransient(name)) continue
      const addresses = known[name] ?? []
      const mac = (read(join(sysfsRoot, 'class/net', name, 'address'), 64) || addresses[0]?.mac || '').toLowerCase()
      if (!macPattern.test(mac) || mac === '00:00:00:00:00:00') continue
      const state = read(join(sysfsRoot, 'class/net', name, 'operstate'), 32)
      found.push({
        name: cutText(name, 64),
        mac,
        addresses: addresses.slice(0, 32).map((address) => cutText(address.address, 64)),
        isUp: state === '' || state === 'unknown' ? addresses.length > 0 : state === 'up',
      })
    }
    // Interfaces in use come first, because the protocol limits their number.
    return found
      .sort((a, b) => b.addresses.length - a.addresses.length || (a.name < b.name ? -1 : 1))
      .slice(0, agentLimits.nics)
  }

  const osRelease = (): Map<string, string> =>
    parseOsRelease(read(join(etcRoot, 'os-release'), 65_536) || read('/usr/lib/os-release', 65_536))

  /** Debian's VERSION_ID has only the major number; `debian_version` has the point release. */
  function osVersion(fields: Map<string, string>): string {
    const point = fields.get('ID') === 'debian' ? read(join(etcRoot, 'debian_version'), 32) : ''
    return /^\d+(\.\d+)+$/.test(point) ? point : (fields.get('VERSION_ID') ?? '')
  }

  const hostName = (): string =>
    (etcRoot === '/etc' ? '' : read(join(etcRoot, 'hostname'), 255)) || hostname() || 'localhost'

  return {
    collect(): HostFacts {
      const os = osRelease()
      const { grade, reason } = enforcement()
      return {
        hostname: cutText(hostName(), 255),
        address: cutText(localAddress(), 64),
        osName: cutText(os.get('PRETTY_NAME') ?? os.get('NAME') ?? 'Linux', 120),
        osVersion: cutText(osVersion(os), 120),
        kernel: cutText(release(), 120),
        architecture: cutText(arch(), 32),
        vendor: named('sys_vendor'),
        model: named('product_name'),
        chassis: chassisTypes[Number(dmi('chassis_type', 8))] ?? '',
        sku: named('product_sku'),
        nics: nics(),
        agentVersion: cutText(agentVersion, 64),
        enforcement: grade,
        ...(reason === '' ? {} : { enforcementReason: cutText(reason, 200) }),
        releaseKey: releaseKey(),
      }
    },
    /**
     * Null if the system creates another one at each start, or if systemd took it from the firmware, as it does on virtual
     * machines: every user can read it, so it would give away the UUID, which is the second proof.
     */
    machineIdHash(): string | null {
      const path = join(etcRoot, 'machine-id')
      if (isTemporary(path)) return null
      const id = read(path, 128)
      return hexDigits(id) === hexDigits(dmi('product_uuid', 128)) ? null : machineHash(id)
    },
    /**
     * Boards without SMBIOS, such as those with ARM processors, have a serial number in the device tree. Null unless the
     * agent runs as root: only root can read `product_uuid`.
     */
    smbiosHash: (): string | null =>
      machineHash(
        existsSync(dmiDir)
          ? dmi('product_uuid', 128)
          : read(join(sysfsRoot, 'firmware/devicetree/base/serial-number'), 128).replace(/(?<!\0)\0+$/, ''),
      ),
  }
}
