import type { NoticeKind } from '@portcullis/contract'

/** The hosts of an alert, as its title names them. `name` is the name of one of them. */
export interface TitleHosts {
  count: number
  name: string
}

/** The parts of a title. */
export interface TitleParts {
  kind: NoticeKind
  /** Name of the device, or `VID:PID` without a name; empty: the alert is not about a device. */
  device: string
  /** Name of the host or account of the newest event. */
  entity: string
  /** True if the alert covers too many models or hosts to name each. */
  isFlood: boolean
}

/** Cause in brackets after the name of the device. */
const causes: Readonly<Partial<Record<NoticeKind, string>>> = {
  attackTool: 'attack tool',
  driverMismatch: 'driver mismatch',
  unknownDriver: 'unknown driver',
  vulnerable: 'vulnerable',
  uncommon: 'uncommon',
  whitelistViolation: 'not on the allowlist',
  blocked: 'blocked',
}

const floods: Readonly<Partial<Record<NoticeKind, string>>> = {
  attackTool: 'Many attack tools',
  driverMismatch: 'Many driver mismatches',
  unknownDriver: 'Many unknown drivers',
  vulnerable: 'Many vulnerable devices',
  uncommon: 'Many uncommon devices',
  whitelistViolation: 'Many devices not on the allowlist',
  blocked: 'Many blocked devices',
  keyClone: 'Many copied agent keys',
  duplicate: 'Many possible duplicates',
}

const accounts: Readonly<Partial<Record<NoticeKind, string>>> = {
  tokenExpiring: 'API token expires soon',
  accountSuspended: 'Account suspended',
  accountDisabled: 'Account disabled or deleted',
}

/** Returns the name of one host, or the number of several. */
const hostsText = ({ count, name }: TitleHosts): string => (count <= 1 ? name : `${count.toLocaleString('en')} hosts`)

/** Returns the title of an alert, for example `Rubber Ducky (attack tool) on 12 hosts`. */
export const titleOf = ({ kind, device, entity, isFlood }: TitleParts, known: TitleHosts): string => {
  const account = accounts[kind]
  if (account !== undefined) return isFlood ? `${account}: many accounts` : `${account}: ${entity}`
  const hosts = hostsText(known.count === 0 && !isFlood && entity !== 'fleet' ? { count: 1, name: entity } : known)
  if (kind === 'agentSilent') return hosts === '' ? 'Many hosts stopped checking in' : `${hosts} stopped checking in`
  if (kind === 'duplicate' && !isFlood) return `Possible duplicate: ${hosts}`
  const what = isFlood
    ? (floods[kind] ?? 'Many alerts')
    : kind === 'keyClone'
      ? 'Copied agent key'
      : `${device === '' ? 'Device' : device} (${causes[kind] ?? kind})`
  return hosts === '' ? what : `${what} on ${hosts}`
}
