import type { Prediction, previewPolicy, ResponseOf } from '@portcullis/contract'
import type { Severity } from '../theme/tokens.ts'

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
  const where = `will work again on ${hosts(agents)}`
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
  return { severity: 'amber', text: `This newly allows devices on ${hosts(openedHosts(opens))}.` }
}

/** Says what a change of tags makes possible, attack tools first; null: nothing. */
export const tagsOpenText = (opens: Opens): { severity: Severity; text: string } | null => {
  const count = openedHosts(opens)
  if (count === 0) return null
  const again = opens.worksAgain === null ? null : worksAgainText(opens.worksAgain)
  return {
    severity: again?.severity ?? 'amber',
    text: `This newly allows devices on ${hosts(count)}. ${again?.text ?? 'Blocked devices will work again there.'}`,
  }
}

/** Hosts, devices and times that a prediction is based on, in a sentence. */
export const basisText = ({ agents, peripherals, from, to }: Prediction): string =>
  `Based on ${devices(peripherals)} on ${hosts(agents)}, attached or seen from ${minuteText(from)} to ${minuteText(to)} UTC.`

/** What a change of the rules would do, most serious part first. */
export const previewSentence = (
  preview: Pick<Preview, 'agents' | 'peripherals' | 'matching' | 'allowed' | 'blocked' | 'blockedNow'>,
): { severity: Severity; text: string } => {
  const { agents, peripherals, matching, allowed, blocked, blockedNow } = preview
  if (peripherals === 0) {
    const known =
      matching.peripherals === 0
        ? 'no device that is present or was seen in the last 30 days is meant'
        : `${devices(matching.peripherals)} on ${hosts(matching.agents)} ${matching.peripherals === 1 ? 'is' : 'are'} meant, decided the same way already`
    return { severity: 'neutral', text: `Changes nothing now: ${known}.` }
  }
  const parts = [
    ...(allowed > 0 ? [`${allowed.toLocaleString('en')} will be allowed`] : []),
    ...(blocked > 0 ? [`${blocked.toLocaleString('en')} will be blocked`] : []),
  ]
  const now =
    blockedNow > 0
      ? ` ${blockedNow === 1 ? 'One of them stops' : `${blockedNow.toLocaleString('en')} of them stop`} working now.`
      : ''
  return {
    severity: blockedNow > 0 ? 'red' : blocked > 0 ? 'amber' : 'neutral',
    text: `Changes ${devices(peripherals)} on ${hosts(agents)}: ${parts.join(', ')}.${now}`,
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
  const period = days === 1 ? 'Over the last day' : `Over the last ${days} days`
  if (peripherals === 0) return `${period}, no device was attached to these hosts: there is nothing to judge.`
  if (blocked.peripherals === 0) return `${period}, nothing would have been blocked on ${hosts(agents)}.`
  const often = blocked.attachments === 0 ? '' : `, ${times(blocked.attachments)}`
  return `${period}, arming would have blocked ${devices(blocked.peripherals)} on ${hosts(blocked.agents)}${often}.`
}
