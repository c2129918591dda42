import type { Prediction, previewPolicy, ResponseOf } from '@portcullis/contract'
import type { Severity } from '../theme/tokens.ts'
import { strings } from './strings.ts'

export type Preview = ResponseOf<typeof previewPolicy>

/** A number with its noun: `1 host`, `12 hosts`. */
export const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

export const hosts = (count: number): string => counted(count, 'host', 'hosts')
export const devices = (count: number): string => counted(count, 'device', 'devices')
const minuteText = (time: string): string => time.slice(0, 16).replace('T', ' ')
const times = (count: number): string => counted(count, 'time', 'times')

/** Says which blocked devices work again; null: none. Attack tools are named first. */
export const worksAgainText = ({
  agents,
  peripherals,
  attackTools,
}: Preview['worksAgain']): { severity: Severity; text: string } | null => {
  if (peripherals === 0) return null
  const where = strings.willWorkAgainOnAgents({ agents: hosts(agents) })
  if (attackTools === 0)
    return { severity: 'amber', text: `${counted(peripherals, 'blocked device', 'blocked devices')} ${where}.` }
  const tools = counted(attackTools, 'blocked attack tool', 'blocked attack tools')
  const others = peripherals - attackTools
  return {
    severity: 'red',
    text: `${tools}${others === 0 ? '' : ` and ${counted(others, 'other blocked device', 'other blocked devices')}`} ${where}.`,
  }
}

/** What a change opens, as a preview or dry run of the server says. */
export interface Opens {
  worksAgain: Preview['worksAgain'] | null
  newlyAllowed?: number
}

/** Returns the number of hosts on which a change allows devices. More than one need a reason. */
export const openedHosts = ({ worksAgain, newlyAllowed = 0 }: Opens): number =>
  Math.max(worksAgain?.agents ?? 0, newlyAllowed)

/** Says what a change makes possible: blocked devices that work again, or else hosts that newly allow some; null: nothing. */
export const openedText = (opens: Opens): { severity: Severity; text: string } | null => {
  const again = opens.worksAgain === null ? null : worksAgainText(opens.worksAgain)
  if (again !== null || openedHosts(opens) === 0) return again
  return { severity: 'amber', text: strings.thisNewlyAllowsDevicesOnOpens({ opens: hosts(openedHosts(opens)) }) }
}

/** Says what a change of tags makes possible, attack tools first; null: nothing. */
export const tagsOpenText = (opens: Opens): { severity: Severity; text: string } | null => {
  const count = openedHosts(opens)
  if (count === 0) return null
  const again = opens.worksAgain === null ? null : worksAgainText(opens.worksAgain)
  return {
    severity: again?.severity ?? 'amber',
    text: strings.thisNewlyAllowsDevicesOnCount({
      count: hosts(count),
      text: again?.text ?? strings.blockedDevicesWillWorkAgainThere,
    }),
  }
}

/** Hosts, devices and times that a prediction is based on, in a sentence. */
export const basisText = ({ agents, peripherals, from, to }: Prediction): string =>
  strings.basedOnPeripheralsOnAgentsAttached({
    peripherals: devices(peripherals),
    agents: hosts(agents),
    from: minuteText(from),
    to: minuteText(to),
  })

/** What a change of the rules would do, most serious part first. */
export const previewSentence = (
  preview: Pick<Preview, 'agents' | 'peripherals' | 'matching' | 'allowed' | 'blocked' | 'blockedNow'>,
): { severity: Severity; text: string } => {
  const { agents, peripherals, matching, allowed, blocked, blockedNow } = preview
  if (peripherals === 0) {
    const known =
      matching.peripherals === 0
        ? strings.noDeviceThatIsPresentOr
        : strings.peripheralsOnAgentsPeripherals2OtherAre({
            peripherals: devices(matching.peripherals),
            agents: hosts(matching.agents),
            peripherals2: matching.peripherals,
          })
    return { severity: 'neutral', text: strings.changesNothingNowKnown({ known }) }
  }
  const parts = [
    ...(allowed > 0 ? [strings.allowedWillBeAllowed({ allowed })] : []),
    ...(blocked > 0 ? [strings.blockedWillBeBlocked({ blocked })] : []),
  ]
  const now =
    blockedNow > 0
      ? ` ${blockedNow === 1 ? strings.oneOfThemStops : strings.blockednowOfThemStop({ blockedNow })} working now.`
      : ''
  return {
    severity: blockedNow > 0 ? 'red' : blocked > 0 ? 'amber' : 'neutral',
    text: strings.changesPeripheralsOnAgentsPartsNow({
      peripherals: devices(peripherals),
      agents: hosts(agents),
      parts: parts.join(', '),
      now,
    }),
  }
}

/** Totals of a test of the policy over inventory and history. */
export interface TestTotals {
  days: number
  agents: number
  peripherals: number
  attachments: number
  blocked: { agents: number; peripherals: number; attachments: number }
}

/** What an armed fleet would have blocked, in a sentence. */
export const testSentence = ({ days, agents, peripherals, blocked }: TestTotals): string => {
  const period = days === 1 ? strings.overTheLastDay : strings.overTheLastDaysDays({ days })
  if (peripherals === 0) return strings.periodNoDeviceWasAttachedTo({ period })
  if (blocked.peripherals === 0) return strings.periodNothingWouldHaveBeenBlocked({ period, agents: hosts(agents) })
  const often = blocked.attachments === 0 ? '' : `, ${times(blocked.attachments)}`
  return strings.periodArmingWouldHaveBlockedPeripherals({
    period,
    peripherals: devices(blocked.peripherals),
    agents: hosts(blocked.agents),
    often,
  })
}
