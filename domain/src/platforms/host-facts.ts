import type { HostFacts, NicReport } from '@portcullis/contract/agent-reports.ts'
import { cleanText } from '../text.ts'
import { cut } from './reading.ts'

/** SMBIOS 3.7, 7.4.1: chassis types by number. */
export const chassisTypes: readonly string[] = [
  '',
  'Other',
  'Unknown',
  'Desktop',
  'Low Profile Desktop',
  'Pizza Box',
  'Mini Tower',
  'Tower',
  'Portable',
  'Laptop',
  'Notebook',
  'Hand Held',
  'Docking Station',
  'All in One',
  'Sub Notebook',
  'Space-saving',
  'Lunch Box',
  'Main Server Chassis',
  'Expansion Chassis',
  'SubChassis',
  'Bus Expansion Chassis',
  'Peripheral Chassis',
  'RAID Chassis',
  'Rack Mount Chassis',
  'Sealed-case PC',
  'Multi-system Chassis',
  'Compact PCI',
  'Advanced TCA',
  'Blade',
  'Blade Enclosure',
  'Tablet',
  'Convertible',
  'Detachable',
  'IoT Gateway',
  'Embedded PC',
  'Mini PC',
  'Stick PC',
]

/** Architecture names of Node.js by the lower-case machine names of uname and Windows. */
const architectures: Readonly<Record<string, string>> = {
  x86_64: 'x64',
  amd64: 'x64',
  x86: 'ia32',
  aarch64: 'arm64',
  ppc64le: 'ppc64',
  loongarch64: 'loong64',
}

const architectureOf = (machine: string): string => {
  const name = machine.toLowerCase()
  if (/^i[3-6]86$/.test(name)) return 'ia32'
  if (/^armv[5-8]/.test(name)) return 'arm'
  return (Object.hasOwn(architectures, name) ? architectures[name] : undefined) ?? name
}

/** Parses an os-release file (os-release(5)): `KEY="value"`, quotes optional. */
export const parseOsRelease = (text: string): Map<string, string> => {
  const fields = new Map<string, string>()
  for (const line of text.slice(0, 65_536).split('\n', 1_000)) {
    const match = /^([A-Z_0-9]+)=(?:"(.*)"|'(.*)'|(.*))$/.exec(line.trim())
    if (match?.[1]) fields.set(match[1], (match[2] ?? match[3] ?? match[4] ?? '').replace(/\\(["$`\\])/g, '$1'))
  }
  return fields
}

/** Raw facts of an agentless host. `machine` is its name for the architecture, `chassis` the SMBIOS number. */
export interface SaidOfHost {
  hostname: string
  osName: string
  osVersion: string
  kernel: string
  machine: string
  vendor?: string
  model?: string
  chassis?: string
  sku?: string
  nics: readonly NicReport[]
}

/** Maximum number of network interfaces and addresses in a report. */
const MAX_NICS = 64
const MAX_ADDRESSES = 32

const clean = (text: string | undefined, max: number): string => cut(cleanText(text ?? '', max), max)

/** Returns the facts of an agentless host: cleaned, limited, and without enforcement. */
export const hostFacts = (said: SaidOfHost): HostFacts => ({
  hostname: clean(said.hostname, 255) || 'localhost',
  address: '',
  osName: clean(said.osName, 120),
  osVersion: clean(said.osVersion, 120),
  kernel: clean(said.kernel, 120),
  architecture: clean(architectureOf(said.machine), 32),
  vendor: clean(said.vendor, 120),
  model: clean(said.model, 120),
  chassis: chassisTypes[Number(said.chassis?.trim() || 0)] ?? '',
  sku: clean(said.sku, 120),
  // Interfaces that are up come first, so that they remain if there are too many.
  nics: [...said.nics]
    .sort((a, b) => Number(b.isUp) - Number(a.isUp) || b.addresses.length - a.addresses.length)
    .slice(0, MAX_NICS)
    .map((nic) => ({
      name: clean(nic.name, 64),
      mac: nic.mac,
      addresses: nic.addresses.slice(0, MAX_ADDRESSES).map((address) => clean(address, 64)),
      isUp: nic.isUp,
    })),
  agentVersion: '',
  enforcement: 'observe',
})

/** Returns a MAC address in the form of the contract, or undefined for invalid and non-hardware addresses. */
export const macOf = (text: string): string | undefined => {
  const mac = text.trim().toLowerCase().replaceAll('-', ':')
  return /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(mac) && mac !== '00:00:00:00:00:00' ? mac : undefined
}

/** Parses `uname -snrm`: system, host, kernel release and machine. Only the host name may contain spaces. */
export const parseUname = (line: string): { hostname: string; kernel: string; machine: string } => {
  const words = line.slice(0, 1_000).trim().split(' ')
  return {
    hostname: words.slice(1, -2).join(' '),
    kernel: words.at(-2) ?? '',
    machine: words.at(-1) ?? '',
  }
}
