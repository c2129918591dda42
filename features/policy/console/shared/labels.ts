import type { Prediction, previewPolicy, ResponseOf } from '@portcullis/contract'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { strings } from './strings.ts'

export type Preview = ResponseOf<typeof previewPolicy>

export const hosts = (count: number): string => strings.hostCount({ count })
export const devices = (count: number): string => strings.deviceCount({ count })
const dayMs = 86_400_000

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

/** Devices that a change newly allows, from a preview or dry run. */
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

/** The devices of a prediction, with their hosts and attachments. */
export type Subject = Prediction['blocked']

/** Devices and hosts that a prediction examined. */
export type Examined = Subject & Pick<Prediction, 'from' | 'to'>

/** Says which period, devices, hosts and attachments a prediction is based on. */
export const basisText = ({ agents, peripherals, attachments, from, to }: Examined): string => {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / dayMs)
  return peripherals === 0
    ? strings.basisEmpty({ days })
    : strings.basis({ days, devices: peripherals, hosts: agents, attachments })
}

/** Says which devices armed hosts block. */
export const blockedText = ({ agents, peripherals, attachments }: Subject): string =>
  peripherals === 0
    ? strings.armingBlocksNothing
    : strings.armingBlocks({ devices: peripherals, hosts: agents, attachments })

/** Says which devices armed hosts block, and what this is based on. */
export const armingText = (prediction: Examined & Pick<Prediction, 'blocked'>): string =>
  `${blockedText(prediction.blocked)} ${basisText(prediction)}`

type Changed = Pick<Prediction, 'changed' | 'newlyAllowed' | 'newlyBlocked' | 'stopsWorking'>

/** Summarizes which devices a change allows and blocks; null if none. */
export const changeText = (prediction: Changed): { severity: Severity; text: string } | null => {
  const { agents, peripherals, attachments } = prediction.changed
  if (peripherals === 0) return null
  const allowed = prediction.newlyAllowed.peripherals
  const blocked = prediction.newlyBlocked.peripherals
  const blockedNow = prediction.stopsWorking.peripherals
  const common = { devices: peripherals, hosts: agents, attachments }
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

/**
 * Says that a change of the rules blocks nothing on the hosts that are not armed. Null if all of them are armed, or if
 * there are none.
 */
export const unarmedText = (preview: {
  agents: number
  armedAgents: number
  matching: { agents: number; armedAgents: number }
}): string | null => {
  const { agents, armedAgents } = preview.agents > 0 ? preview : preview.matching
  if (agents === armedAgents) return null
  return armedAgents === 0
    ? strings.noneArmed({ hosts: agents })
    : strings.someArmed({ hosts: agents, armed: armedAgents })
}

/** Summarizes what a change of the rules would do. */
export const previewSentence = ({
  matching,
  prediction,
}: {
  matching: Pick<Preview['matching'], 'agents' | 'peripherals'>
  prediction: Changed
}): { severity: Severity; text: string } =>
  changeText(prediction) ?? {
    severity: 'neutral',
    text:
      matching.peripherals === 0
        ? strings.noMatch
        : strings.sameOutcome({ devices: matching.peripherals, hosts: matching.agents }),
  }
