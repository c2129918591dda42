import { readdirSync, readFileSync } from 'node:fs'
import { arch, hostname, networkInterfaces, release } from 'node:os'
import { join } from 'node:path'
import { agentLimits, type HostFacts, type NicReport } from '@portcullis/contract/agent-protocol'
import { chassisTypes, machineHash, parseOsRelease } from '@portcullis/domain'
import { attributeText, cutText } from '../../collectors/text.ts'
import type { FactsCollector, FactsDeps } from '../platform.ts'

export interface LinuxFactsDeps extends FactsDeps {
  /** Directory to use instead of `/sys`. */
  sysfsRoot: string
  /** Directory to use instead of `/etc`. */
  etcRoot: string
}

const read = (path: string, max: number): string => {
  try {
    return (attributeText(readFileSync(path), max) ?? '').trim()
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

const macPattern = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/
/** Virtual links of containers change constantly and do not describe the hardware. */
const isTransient = (name: string): boolean => name.startsWith('veth')

/** Creates a collector of host facts and of the hashes that identify the machine. */
export const createFactsCollector = ({
  sysfsRoot,
  etcRoot,
  agentVersion,
  localAddress,
  enforcement,
  releaseKey,
}: LinuxFactsDeps): FactsCollector => {
  const dmi = (name: string, max: number): string => read(join(sysfsRoot, 'class/dmi/id', name), max)

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
        vendor: dmi('sys_vendor', 120),
        model: dmi('product_name', 120),
        chassis: chassisTypes[Number(dmi('chassis_type', 8))] ?? '',
        sku: dmi('product_sku', 120),
        nics: nics(),
        agentVersion: cutText(agentVersion, 64),
        enforcement: grade,
        ...(reason === '' ? {} : { enforcementReason: cutText(reason, 200) }),
        releaseKey: releaseKey(),
      }
    },
    machineIdHash: (): string | null => machineHash(read(join(etcRoot, 'machine-id'), 128)),
    /** Null unless the agent runs as root: only root can read `product_uuid`. */
    smbiosHash: (): string | null => machineHash(dmi('product_uuid', 128)),
  }
}
