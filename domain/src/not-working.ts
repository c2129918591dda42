import type { closedReasons, DeviceReport } from '@portcullis/contract/agent-reports.ts'
import type { ParsedDescriptors } from './descriptors.ts'

const closed: Readonly<Record<(typeof closedReasons)[number], string>> = {
  'no-driver': 'no allowed driver bound to it',
  'not-described': 'the descriptors do not contain it',
  'closed-before': 'another program closed it before the host was armed',
}

/** Currents in mA: `full` of a powered port, `shared` of a port of a hub without its own power supply. */
const supplies = (speedMbps: number): { full: number; shared: number } =>
  speedMbps >= 5000 ? { full: 900, shared: 150 } : { full: 500, shared: 100 }

/** Returns a likely reason why the kernel rejected every configuration. */
const powerText = ({ configurations }: ParsedDescriptors, { portPath, speedMbps = 0 }: DeviceReport): string => {
  const needed = Math.min(...configurations.map(({ maxPowerMa }) => maxPowerMa))
  const { full, shared } = supplies(speedMbps)
  if (needed > full && needed < Number.POSITIVE_INFINITY) return `it needs ${needed} mA, and a port supplies ${full} mA`
  if (needed > shared && portPath.includes('.') && needed <= full)
    return `it needs ${needed} mA, probably more than the port of its hub supplies`
  return 'the kernel log of the host gives the reason'
}

/** Returns why a device that the host does not block does not work. Empty if it works, as far as the host can tell. */
export const whyNotWorking = (parsed: ParsedDescriptors, report: DeviceReport): string => {
  if (report.authorized === false) return ''
  if (report.configurationValue === 0) return `The kernel did not configure the device: ${powerText(parsed, report)}.`
  return (report.closedInterfaces ?? [])
    .map(({ interface: number, reason }) => `Interface ${number} stays closed: ${closed[reason]}.`)
    .join(' ')
}
