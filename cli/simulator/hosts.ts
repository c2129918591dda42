/** Hosts of an organisation: names, addresses, hardware, operating systems and typical devices. */
import { createHash } from 'node:crypto'
import { mustExist } from '@portcullis/domain'
import type { HostFacts } from '@portcullis/features/contract.ts'
import packageFile from '../../package.json' with { type: 'json' }
import type { Role } from './models.ts'
import { macosFacts, windowsFacts } from './other-systems.ts'
import type { Platform } from './platforms.ts'
import type { Random } from './random.ts'

/** Versions of simulated agents. Most have the current one. */
export const agentVersions = [
  { version: packageFile.version, weight: 88 },
  { version: '0.0.9', weight: 9 },
  { version: '0.0.7', weight: 3 },
]

interface Os {
  name: string
  version: string
  kernel: string
  weight: number
}

interface Hardware {
  vendor: string
  model: string
  chassis: string
  sku: string
  architecture: string
  weight: number
}

/** A kind of workplace. */
export interface Department {
  /** Name, and tag of its hosts. */
  name: string
  /** Share of the fleet. */
  weight: number
  /** Prefix of host names, before the number. */
  prefix: string
  digits: number
  /** Second octet of its 10.x addresses. */
  net: number
  os: readonly Os[]
  hardware: readonly Hardware[]
  /** Probability that a host has a device of a role. */
  devices: Partial<Record<Role, number>>
  /** Roles of devices that people attach and remove. */
  carried: readonly Role[]
}

const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((row) => row.trim().split(' | '))

/** Columns: key, name, version, kernel, weight. */
const systems = new Map(
  rowsOf(`
  ubuntu24 | Ubuntu 24.04.3 LTS | 24.04 | 6.8.0-71-generic | 50
  ubuntu22 | Ubuntu 22.04.5 LTS | 22.04 | 5.15.0-151-generic | 25
  debian12 | Debian GNU/Linux 12 (bookworm) | 12.11 | 6.1.0-37-amd64 | 20
  debian13 | Debian GNU/Linux 13 (trixie) | 13.1 | 6.12.41+deb13-amd64 | 10
  fedora | Fedora Linux 42 (Workstation Edition) | 42 | 6.15.9-201.fc42.x86_64 | 10
  rhel9 | Red Hat Enterprise Linux 9.6 (Plow) | 9.6 | 5.14.0-570.30.1.el9_6.x86_64 | 30
  rocky9 | Rocky Linux 9.6 (Blue Onyx) | 9.6 | 5.14.0-570.32.1.el9_6.x86_64 | 15
  suse | SUSE Linux Enterprise Server 15 SP7 | 15.7 | 6.4.0-150700.53.11-default | 8
  raspbian | Raspbian GNU/Linux 12 (bookworm) | 12 | 6.12.34+rpt-rpi-v8 | 30
`).map(([key = '', name = '', version = '', kernel = '', weight]): [string, Os] => [
    key,
    { name, version, kernel, weight: Number(weight) },
  ]),
)

const machine = (
  vendor: string,
  model: string,
  chassis: string,
  sku: string,
  weight: number,
  architecture = 'x64',
): Hardware => ({ vendor, model, chassis, sku, architecture, weight })
const laptops = [
  machine('Dell Inc.', 'Latitude 5440', 'Notebook', '0C06', 30),
  machine('Dell Inc.', 'Latitude 7420', 'Notebook', '0A36', 15),
  machine('LENOVO', '21HD0069GE', 'Notebook', 'LENOVO_MT_21HD_BU_Think_FM_ThinkPad T14 Gen 4', 30),
  machine('LENOVO', '20XW004AGE', 'Notebook', 'LENOVO_MT_20XW_BU_Think_FM_ThinkPad X1 Carbon Gen 9', 12),
  machine('HP', 'HP EliteBook 840 G10', 'Notebook', '8A3P7EA#ABD', 20),
]
const desktops = [
  machine('Dell Inc.', 'OptiPlex 7010', 'Desktop', '0C4A', 35),
  machine('HP', 'HP ProDesk 400 G9 SFF', 'Desktop', '6U4R7EA#ABD', 25),
  machine('LENOVO', '11SDS00U00', 'Desktop', 'LENOVO_MT_11SD_BU_Think_FM_ThinkCentre M70s', 20),
  machine('FUJITSU', 'ESPRIMO P7012', 'Desktop', 'VFY:P7012', 10),
]
const miniComputers = [
  machine('Intel(R) Client Systems', 'NUC11TNHi5', 'Mini PC', 'RNUC11TNHi50000', 25),
  machine('Raspberry Pi Foundation', 'Raspberry Pi 4 Model B Rev 1.5', '', '', 20, 'arm64'),
  machine('Advantech', 'UTC-520', 'All in One', '', 15),
]
const servers = [
  machine('Dell Inc.', 'PowerEdge R650', 'Rack Mount Chassis', 'SKU=0912', 30),
  machine('HPE', 'ProLiant DL360 Gen10', 'Rack Mount Chassis', '867959-B21', 25),
  machine('Supermicro', 'SYS-510P-MR', 'Rack Mount Chassis', '', 10),
]

const machines: Readonly<Record<string, readonly Hardware[]>> = { laptops, desktops, miniComputers, servers }

/** Columns: the members of a department in order; devices with their probabilities. */
export const departments: readonly Department[] = rowsOf(`
  office | 34 | OFF-PC- | 4 | 20 | ubuntu24 ubuntu22 suse | desktops | keyboard=0.9 mouse=0.85 hub=0.45 headset=0.4 camera=0.35 bluetooth=0.5 unifying=0.12 receiver=0.2 smartCard=0.3 | storage phone headset token
  engineering | 22 | DEV-LT- | 4 | 30 | ubuntu24 debian13 fedora debian12 | laptops | internalCamera=0.95 bluetooth=0.97 fingerprint=0.6 keyboard=0.9 mouse=0.85 hub=0.8 headset=0.4 camera=0.3 receiver=0.25 unifying=0.1 network=0.35 token=0.4 serial=0.25 board=0.12 disk=0.1 | storage disk phone board serial token
  sales | 14 | SAL-LT- | 4 | 40 | ubuntu24 ubuntu22 | laptops | internalCamera=0.95 bluetooth=0.97 fingerprint=0.6 mouse=0.6 headset=0.7 receiver=0.3 unifying=0.15 hub=0.35 network=0.3 keyboard=0.3 | storage phone camera network
  finance | 9 | FIN-PC- | 4 | 50 | rhel9 ubuntu22 | desktops | keyboard=0.9 mouse=0.85 hub=0.45 headset=0.6 smartCard=0.95 token=0.5 camera=0.4 | token storage
  kiosk | 8 | KIOSK- | 4 | 60 | raspbian debian12 | miniComputers | scanner=0.8 printer=0.7 keyboard=0.3 mouse=0.3 hub=0.85 camera=0.3 smartCard=0.3 serial=0.4 | storage phone keyboard
  lab | 7 | LAB-WS- | 3 | 70 | debian12 rocky9 fedora | desktops | keyboard=0.9 mouse=0.85 hub=0.95 headset=0.4 serial=0.9 board=0.6 disk=0.4 camera=0.5 network=0.3 | board serial disk storage
  server | 6 | SRV- | 4 | 10 | rhel9 rocky9 debian12 suse | servers | ups=0.6 keyboard=0.3 mouse=0.2 hub=0.9 disk=0.3 storage=0.3 network=0.2 serial=0.4 token=0.2 | storage keyboard disk
`).map(([name = '', weight, prefix = '', digits, net, os = '', hardware = '', devices = '', carried = '']) => ({
  name,
  weight: Number(weight),
  prefix,
  digits: Number(digits),
  net: Number(net),
  os: os.split(' ').map((key) => mustExist(systems.get(key), 'a system')),
  hardware: mustExist(machines[hardware], 'machines'),
  devices: Object.fromEntries(
    devices.split(' ').map((one) => {
      const [role, probability] = one.split('=')
      return [role, Number(probability)]
    }),
  ),
  carried: carried.split(' ') as Role[],
}))

/** One host of the fleet, determined by seed and index. */
export interface Host {
  index: number
  department: Department
  platform: Platform
  facts: HostFacts
  machineIdHash: string
  smbiosHash: string
}

const machineHash = (text: string): string => createHash('sha256').update(`portcullis:${text}`).digest('hex')

const mac = (random: Random): string =>
  ['3c', '52', ...Array.from({ length: 4 }, () => random.hex(2).toLowerCase())].join(':')

/** Creates the host with an index. `random` must not be shared with another host. `salt` distinguishes fleets. */
export const createHost = (index: number, random: Random, salt: string, platform: Platform = 'linux'): Host => {
  const department = random.weighted(departments)
  const os = random.weighted(department.os)
  // Only Linux runs on small boards.
  const hardware = random.weighted(
    platform === 'linux'
      ? department.hardware
      : department.hardware.filter(({ architecture }) => architecture === 'x64'),
  )
  const address = `10.${department.net + ((index >> 16) & 7)}.${(index >> 8) & 255}.${index & 255}`
  const isLaptop = hardware.chassis === 'Notebook'
  const nics = [
    {
      name: department.name === 'server' ? 'eno1' : 'enp0s31f6',
      mac: mac(random),
      addresses: isLaptop ? [] : [address],
      isUp: !isLaptop,
    },
    ...(isLaptop ? [{ name: 'wlp0s20f3', mac: mac(random), addresses: [address], isUp: true }] : []),
  ]
  const linux: HostFacts = {
    hostname: `${department.prefix}${String(index + 1).padStart(department.digits, '0')}`,
    address,
    osName: os.name,
    osVersion: os.version,
    kernel: os.kernel,
    architecture: platform === 'linux' ? hardware.architecture : `${platform}-${hardware.architecture}`,
    vendor: hardware.vendor,
    model: hardware.model,
    chassis: hardware.chassis,
    sku: hardware.sku,
    nics,
    agentVersion: random.weighted(agentVersions).version,
    enforcement: random.chance(0.9) ? 'before-driver' : 'observe',
  }
  const changes =
    platform === 'windows'
      ? windowsFacts(department.name, isLaptop, linux, random)
      : platform === 'macos'
        ? macosFacts(isLaptop, linux, random)
        : {}
  return {
    index,
    department,
    platform,
    facts: { ...linux, ...changes },
    machineIdHash: machineHash(`${salt} machine ${index}`),
    smbiosHash: machineHash(`${salt} board ${index}`),
  }
}
