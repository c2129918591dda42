import type { Prediction, previewPolicy, ResponseOf } from '@portcullis/contract'
import type { Severity } from '../theme/tokens.ts'
import { strings } from './strings.ts'

export type Preview = ResponseOf<typeof previewPolicy>

export const hosts = (count: number): string => strings.hostCount({ count })
export const devices = (count: number): string => strings.deviceCount({ count })
const minuteText = (time: string): string => time.slice(0, 16).replace('T', ' ')

/** Says which blocked devices work again; null if none. Attack tools come first. */
export const worksAgainText = ({
  agents,
  peripherals,
  attackTools,
}: Preview['worksAgain']): { severity: Severity; text: string } | null => {
  if (peripherals === 0) return null
  const others = peripherals - attackTools
  if (attackTools === 0)
    return { severity: 'amber', text: strings.devicesWorkAgain({ devices: peripherals, hosts: agents }) }
  return {
    severity: 'red',
    text:
      others === 0
        ? strings.toolsWorkAgain({ tools: attackTools, hosts: agents })
        : strings.toolsAndDevicesWorkAgain({ tools: attackTools, others, hosts: agents }),
  }
}

/** What a change newly allows, from a preview or dry run. */
export interface Opens {
  worksAgain: Preview['worksAgain'] | null
  newlyAllowed?: number
}

/** Returns the number of hosts on which a change allows devices. More than one requires a reason. */
export const openedHosts = ({ worksAgain, newlyAllowed = 0 }: Opens): number =>
  Math.max(worksAgain?.agents ?? 0, newlyAllowed)

/** Says which blocked devices work again, or else which hosts newly allow devices; null if none. */
export const openedText = (opens: Opens): { severity: Severity; text: string } | null => {
  const again = opens.worksAgain === null ? null : worksAgainText(opens.worksAgain)
  if (again !== null || openedHosts(opens) === 0) return again
  return { severity: 'amber', text: strings.newlyAllows({ hosts: openedHosts(opens) }) }
}

/** Says which devices a change of tags newly allows, attack tools first; null if none. */
export const tagsOpenText = (opens: Opens): { severity: Severity; text: string } | null => {
  const count = openedHosts(opens)
  if (count === 0) return null
  const again = opens.worksAgain === null ? null : worksAgainText(opens.worksAgain)
  return {
    severity: again?.severity ?? 'amber',
    text: `${strings.newlyAllows({ hosts: count })} ${again?.text ?? strings.blockedWorkAgain}`,
  }
}

/** Says which devices, hosts and times a prediction is based on. */
export const basisText = ({ agents, peripherals, from, to }: Prediction): string =>
  strings.basis({
    devices: peripherals,
    hosts: agents,
    from: minuteText(from),
    to: minuteText(to),
  })

/** Summarizes what a change of the rules would do. */
export const previewSentence = (
  preview: Pick<Preview, 'agents' | 'peripherals' | 'matching' | 'allowed' | 'blocked' | 'blockedNow'>,
): { severity: Severity; text: string } => {
  const { agents, peripherals, matching, allowed, blocked, blockedNow } = preview
  if (peripherals === 0) {
    const text =
      matching.peripherals === 0
        ? strings.noMatch
        : strings.sameOutcome({ devices: matching.peripherals, hosts: matching.agents })
    return { severity: 'neutral', text }
  }
  const common = { devices: peripherals, hosts: agents }
  const change =
    blocked === 0
      ? strings.changesAllowed({ ...common, allowed })
      : allowed === 0
        ? strings.changesBlocked({ ...common, blocked })
        : strings.changesBoth({ ...common, allowed, blocked })
  return {
    severity: blockedNow > 0 ? 'red' : blocked > 0 ? 'amber' : 'neutral',
    text: blockedNow > 0 ? `${change} ${strings.stopsNow({ count: blockedNow })}` : change,
  }
}

/** Totals of a simulation over inventory and history. */
export interface TestTotals {
  days: number
  agents: number
  peripherals: number
  attachments: number
  blocked: { agents: number; peripherals: number; attachments: number }
}

/** Summarizes what arming would have blocked. */
export const testSentence = ({ days, agents, peripherals, blocked }: TestTotals): string => {
  if (peripherals === 0) return strings.testEmpty({ days })
  if (blocked.peripherals === 0) return strings.testNoBlocks({ days, hosts: agents })
  const common = { days, devices: blocked.peripherals, hosts: blocked.agents }
  return blocked.attachments === 0
    ? strings.testBlocks(common)
    : strings.testBlocksTimes({ ...common, times: blocked.attachments })
}
