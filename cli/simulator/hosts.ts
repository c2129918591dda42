/** Hosts of an organisation: names, addresses, hardware, operating systems and typical devices. */
import { createHash } from 'node:crypto'
import type { HostFacts } from '@portcullis/contract'
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

const ubuntu24: Os = { name: 'Ubuntu 24.04.3 LTS', version: '24.04', kernel: '6.8.0-71-generic', weight: 50 }
const ubuntu22: Os = { name: 'Ubuntu 22.04.5 LTS', version: '22.04', kernel: '5.15.0-151-generic', weight: 25 }
const debian12: Os = { name: 'Debian GNU/Linux 12 (bookworm)', version: '12.11', kernel: '6.1.0-37-amd64', weight: 20 }
const debian13: Os = {
  name: 'Debian GNU/Linux 13 (trixie)',
  version: '13.1',
  kernel: '6.12.41+deb13-amd64',
  weight: 10,
}
const fedora: Os = {
  name: 'Fedora Linux 42 (Workstation Edition)',
  version: '42',
  kernel: '6.15.9-201.fc42.x86_64',
  weight: 10,
}
const rhel9: Os = {
  name: 'Red Hat Enterprise Linux 9.6 (Plow)',
  version: '9.6',
  kernel: '5.14.0-570.30.1.el9_6.x86_64',
  weight: 30,
}
const rocky9: Os = {
  name: 'Rocky Linux 9.6 (Blue Onyx)',
  version: '9.6',
  kernel: '5.14.0-570.32.1.el9_6.x86_64',
  weight: 15,
}
const suse: Os = {
  name: 'SUSE Linux Enterprise Server 15 SP7',
  version: '15.7',
  kernel: '6.4.0-150700.53.11-default',
  weight: 8,
}
const raspbian: Os = {
  name: 'Raspbian GNU/Linux 12 (bookworm)',
  version: '12',
  kernel: '6.12.34+rpt-rpi-v8',
  weight: 30,
}

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
] as const
const desktops = [
  machine('Dell Inc.', 'OptiPlex 7010', 'Desktop', '0C4A', 35),
  machine('HP', 'HP ProDesk 400 G9 SFF', 'Desktop', '6U4R7EA#ABD', 25),
  machine('LENOVO', '11SDS00U00', 'Desktop', 'LENOVO_MT_11SD_BU_Think_FM_ThinkCentre M70s', 20),
  machine('FUJITSU', 'ESPRIMO P7012', 'Desktop', 'VFY:P7012', 10),
] as const
const miniComputers = [
  machine('Intel(R) Client Systems', 'NUC11TNHi5', 'Mini PC', 'RNUC11TNHi50000', 25),
  machine('Raspberry Pi Foundation', 'Raspberry Pi 4 Model B Rev 1.5', '', '', 20, 'arm64'),
  machine('Advantech', 'UTC-520', 'All in One', '', 15),
] as const
const servers = [
  machine('Dell Inc.', 'PowerEdge R650', 'Rack Mount Chassis', 'SKU=0912', 30),
  machine('HPE', 'ProLiant DL360 Gen10', 'Rack Mount Chassis', '867959-B21', 25),
  machine('Supermicro', 'SYS-510P-MR', 'Rack Mount Chassis', '', 10),
] as const

const laptopParts = { internalCamera: 0.95, bluetooth: 0.97, fingerprint: 0.6 } as const
const desk = { keyboard: 0.9, mouse: 0.85, hub: 0.45, headset: 0.4 } as const

export const departments: readonly Department[] = [
  {
    name: 'office',
    weight: 34,
    prefix: 'OFF-PC-',
    digits: 4,
    net: 20,
    os: [ubuntu24, ubuntu22, suse],
    hardware: desktops,
    devices: { ...desk, camera: 0.35, bluetooth: 0.5, unifying: 0.12, receiver: 0.2, smartCard: 0.3 },
    carried: ['storage', 'phone', 'headset', 'token'],
  },
  {
    name: 'engineering',
    weight: 22,
    prefix: 'DEV-LT-',
    digits: 4,
    net: 30,
    os: [ubuntu24, debian13, fedora, debian12],
    hardware: laptops,
    devices: {
      ...laptopParts,
      ...desk,
      hub: 0.8,
      camera: 0.3,
      receiver: 0.25,
      unifying: 0.1,
      network: 0.35,
      token: 0.4,
      serial: 0.25,
      board: 0.12,
      disk: 0.1,
    },
    carried: ['storage', 'disk', 'phone', 'board', 'serial', 'token'],
  },
  {
    name: 'sales',
    weight: 14,
    prefix: 'SAL-LT-',
    digits: 4,
    net: 40,
    os: [ubuntu24, ubuntu22],
    hardware: laptops,
    devices: {
      ...laptopParts,
      mouse: 0.6,
      headset: 0.7,
      receiver: 0.3,
      unifying: 0.15,
      hub: 0.35,
      network: 0.3,
      keyboard: 0.3,
    },
    carried: ['storage', 'phone', 'camera', 'network'],
  },
  {
    name: 'finance',
    weight: 9,
    prefix: 'FIN-PC-',
    digits: 4,
    net: 50,
    os: [rhel9, ubuntu22],
    hardware: desktops,
    devices: { ...desk, smartCard: 0.95, token: 0.5, headset: 0.6, camera: 0.4 },
    carried: ['token', 'storage'],
  },
  {
    name: 'kiosk',
    weight: 8,
    prefix: 'KIOSK-',
    digits: 4,
    net: 60,
    os: [raspbian, debian12],
    hardware: miniComputers,
    devices: {
      scanner: 0.8,
      printer: 0.7,
      keyboard: 0.3,
      mouse: 0.3,
      hub: 0.85,
      camera: 0.3,
      smartCard: 0.3,
      serial: 0.4,
    },
    carried: ['storage', 'phone', 'keyboard'],
  },
  {
    name: 'lab',
    weight: 7,
    prefix: 'LAB-WS-',
    digits: 3,
    net: 70,
    os: [debian12, rocky9, fedora],
    hardware: desktops,
    devices: { ...desk, hub: 0.95, serial: 0.9, board: 0.6, disk: 0.4, camera: 0.5, network: 0.3 },
    carried: ['board', 'serial', 'disk', 'storage'],
  },
  {
    name: 'server',
    weight: 6,
    prefix: 'SRV-',
    digits: 4,
    net: 10,
    os: [rhel9, rocky9, debian12, suse],
    hardware: servers,
    devices: {
      ups: 0.6,
      keyboard: 0.3,
      mouse: 0.2,
      hub: 0.9,
      disk: 0.3,
      storage: 0.3,
      network: 0.2,
      serial: 0.4,
      token: 0.2,
    },
    carried: ['storage', 'keyboard', 'disk'],
  },
]

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
