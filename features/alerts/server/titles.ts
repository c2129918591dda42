import { type AlertKind, alertCatalogue, alertCause } from '#features/contract.ts'

/** The hosts of an alert, as its title names them. `name` is the name of one of them. */
export interface TitleHosts {
  count: number
  name: string
}

/** The parts of a title. */
export interface TitleParts {
  kind: AlertKind
  /** Name of the device, or `VID:PID` without a name; empty: the alert is not about a device. */
  device: string
  /** Name of the host or account of the newest event. */
  entity: string
  /** True if the alert covers too many models or hosts to name each. */
  isFlood: boolean
}

/** Returns the name of one host, or the number of several. */
const hostsText = ({ count, name }: TitleHosts): string => (count <= 1 ? name : `${count.toLocaleString('en')} hosts`)

/** Returns the title of an alert, for example `Rubber Ducky (attack tool) on 12 hosts`. */
export const titleOf = ({ kind, device, entity, isFlood }: TitleParts, known: TitleHosts): string => {
  const alert = alertCatalogue[kind]
  if (alert.subject === 'account') return `${alert.title}: ${isFlood ? 'many accounts' : entity}`
  const hosts = hostsText(known.count === 0 && !isFlood && entity !== 'fleet' ? { count: 1, name: entity } : known)
  if (alert.headline !== undefined && !(isFlood && alert.many !== undefined)) return alert.headline(hosts)
  const what = isFlood
    ? `Many ${alert.many ?? 'alerts'}`
    : alert.subject === 'host'
      ? alert.title
      : `${device === '' ? 'Device' : device} (${alertCause(alert)})`
  return hosts === '' ? what : `${what} on ${hosts}`
}
