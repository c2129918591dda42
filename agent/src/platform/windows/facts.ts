import { hostname, networkInterfaces, release } from 'node:os'
import { agentLimits, type HostFacts, type NicReport } from '@portcullis/contract/agent-protocol.ts'
import { chassisTypes, cleanText, isPlaceholder, machineHash } from '@portcullis/domain'
import { cutText } from '../../collectors/text.ts'
import type { Registry, RegistryKey } from './registry.ts'
import { parseSmbios } from './smbios.ts'

const VERSION = 'HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion' satisfies RegistryKey
const CRYPTOGRAPHY = 'HKLM\\SOFTWARE\\Microsoft\\Cryptography' satisfies RegistryKey
const BIOS = 'HKLM\\HARDWARE\\DESCRIPTION\\System\\BIOS' satisfies RegistryKey
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/
/** First build of Windows 11. */
const WINDOWS_11 = 22_000

export interface WindowsFactsDeps {
  registry: Registry
  /** Returns the SMBIOS table. */
  firmware: () => Uint8Array
  agentVersion: string
  /** Returns the address of the host on the connection to the server; empty before the first connection. */
  localAddress: () => string
  /** Returns the enforcement grade of the host and its reason. */
  enforcement: () => { grade: HostFacts['enforcement']; reason: string }
  /** Returns the fingerprint of the release key of this host; empty without one. */
  releaseKey: () => string
  network?: typeof networkInterfaces
}

/** Collects the facts of a Windows host. A value that is missing or of the wrong type is omitted. */
export const createWindowsFacts = ({
  registry,
  firmware,
  agentVersion,
  localAddress,
  enforcement,
  releaseKey,
  network = networkInterfaces,
}: WindowsFactsDeps) => {
  const orNothing = <T>(read: () => T | undefined): T | undefined => {
    try {
      return read()
    } catch {
      return undefined
    }
  }
  const text = (key: RegistryKey, name: string): string =>
    cleanText(orNothing(() => registry.readText(key, name)) ?? '', 120)
  const number = (key: RegistryKey, name: string): number | undefined => orNothing(() => registry.readDword(key, name))
  /** Returns a name of the SMBIOS table or of the registry, unless the vendor left a placeholder there. */
  const named = (name: string, value: string): string =>
    [cleanText(name, 120), text(BIOS, value)].find((one) => !isPlaceholder(one)) ?? ''
  const smbios = () => parseSmbios(orNothing(firmware) ?? new Uint8Array())

  function version(): Pick<HostFacts, 'osName' | 'osVersion' | 'osBuild'> {
    const build = text(VERSION, 'CurrentBuildNumber')
    const [major, minor, revision] = ['CurrentMajorVersionNumber', 'CurrentMinorVersionNumber', 'UBR'].map((name) =>
      number(VERSION, name),
    )
    const isKnown = /^\d{1,6}$/.test(build) && [major, minor].every((one) => one !== undefined && one < 1000)
    const osBuild = isKnown ? `${major}.${minor}.${build}.${Math.min(revision ?? 0, 999_999)}` : undefined
    // The registry of Windows 11 contains the name Windows 10.
    const name = text(VERSION, 'ProductName')
    const osName =
      Number(build) >= WINDOWS_11 && text(VERSION, 'InstallationType') === 'Client'
        ? name.replace(/^Windows 10\b/, 'Windows 11')
        : name
    return {
      osName: osName === '' ? 'Windows' : osName,
      osVersion: cutText([text(VERSION, 'DisplayVersion'), osBuild && `(${osBuild})`].filter(Boolean).join(' '), 120),
      ...(osBuild === undefined ? {} : { osBuild }),
    }
  }

  /** Windows lists only adapters in use. */
  const nics = (): NicReport[] =>
    Object.entries(network())
      .flatMap(([name, addresses = []]) => {
        const mac = (addresses[0]?.mac ?? '').toLowerCase()
        if (addresses[0]?.internal || !MAC.test(mac) || mac === '00:00:00:00:00:00') return []
        const known = addresses.slice(0, 32).map(({ address }) => cutText(address, 64))
        return [{ name: cutText(name, 64), mac, addresses: known, isUp: true }]
      })
      .sort((a, b) => b.addresses.length - a.addresses.length || (a.name < b.name ? -1 : 1))
      .slice(0, agentLimits.nics)

  return {
    collect(): HostFacts {
      const { vendor, model, sku, chassis } = smbios()
      const { grade, reason } = enforcement()
      return {
        hostname: cutText(hostname() || 'localhost', 255),
        address: cutText(localAddress(), 64),
        ...version(),
        kernel: cutText(release(), 120),
        architecture: `windows-${process.arch}`,
        vendor: named(vendor, 'SystemManufacturer'),
        model: named(model, 'SystemProductName'),
        chassis: chassisTypes[chassis] ?? '',
        sku: named(sku, 'SystemSKU'),
        nics: nics(),
        agentVersion: cutText(agentVersion, 64),
        enforcement: grade,
        ...(reason === '' ? {} : { enforcementReason: cutText(reason, 200) }),
        releaseKey: releaseKey(),
      }
    },
    /** Windows creates it at installation. A copy of the disk keeps it unless sysprep replaces it. */
    machineIdHash: (): string | null => machineHash(text(CRYPTOGRAPHY, 'MachineGuid')),
    /** The hypervisor assigns a new UUID to a copy of a virtual machine. */
    smbiosHash: (): string | null => machineHash(smbios().uuid),
  }
}
