/** Facts of simulated hosts with Windows or macOS, as their agents report them. */
import type { HostFacts } from '@portcullis/features/contract.ts'
import type { Random } from './random.ts'

type Facts = Pick<HostFacts, 'osName' | 'osVersion' | 'kernel'> & Partial<Pick<HostFacts, 'osBuild'>>

const windows = (osName: string, display: string, build: string, weight: number): Facts & { weight: number } => ({
  osName,
  osVersion: `${display} (10.0.${build})`,
  osBuild: `10.0.${build}`,
  kernel: `10.0.${build.split('.')[0]}`,
  weight,
})
const clients = [
  windows('Windows 11 Enterprise', '24H2', '26100.4652', 45),
  windows('Windows 11 Pro', '23H2', '22631.5624', 30),
  windows('Windows 10 Enterprise', '22H2', '19045.6093', 25),
]
const kiosks = [windows('Windows 10 IoT Enterprise LTSC 2021', '21H2', '19044.6093', 1)]
const servers = [
  windows('Windows Server 2022 Standard', '21H2', '20348.3932', 60),
  windows('Windows Server 2019 Standard', '1809', '17763.7558', 40),
]

const macs = [
  { osName: 'macOS', osVersion: '15.5', kernel: '24.5.0', weight: 60 },
  { osName: 'macOS', osVersion: '14.7.6', kernel: '23.6.0', weight: 30 },
  { osName: 'macOS', osVersion: '13.7.6', kernel: '22.6.0', weight: 10 },
]
const portableMacs = [
  { model: 'Mac15,6', weight: 40 },
  { model: 'MacBookPro18,3', weight: 35 },
  { model: 'Mac14,2', weight: 25 },
]
const deskMacs = [
  { model: 'Mac14,3', weight: 60 },
  { model: 'Mac15,4', weight: 40 },
]

/** Returns the facts that differ on Windows. The hardware is that of a Linux host. */
export const windowsFacts = (department: string, isLaptop: boolean, { nics }: HostFacts, random: Random) => {
  const { weight: _, ...os } = random.weighted(
    department === 'server' ? servers : department === 'kiosk' ? kiosks : clients,
  )
  return {
    ...os,
    // The agent lists only adapters in use.
    nics: nics.filter(({ isUp }) => isUp).map((nic) => ({ ...nic, name: isLaptop ? 'Wi-Fi' : 'Ethernet' })),
    enforcement: 'observe' as const,
    enforcementReason: 'The agent for Windows only monitors.',
  }
}

/** Returns the facts that differ on a Mac. */
export const macosFacts = (isLaptop: boolean, { nics }: HostFacts, random: Random) => {
  const { weight: _, ...os } = random.weighted(macs)
  return {
    ...os,
    architecture: 'arm64',
    vendor: 'Apple Inc.',
    model: random.weighted(isLaptop ? portableMacs : deskMacs).model,
    chassis: '',
    sku: '',
    nics: nics.map((nic, at) => ({ ...nic, name: `en${at}` })),
    enforcement: 'observe' as const,
    enforcementReason: 'The agent for macOS only monitors.',
  }
}
