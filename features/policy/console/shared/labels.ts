import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { Prediction, previewPolicy, ResponseOf, TakesEffect } from '#features/contract.ts'
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
export type Examined = Subject & Pick<Prediction, 'from' | 'to' | 'isEveryDevice'>

/** Says which period, devices, hosts and attachments a prediction is based on. */
export const basisText = ({ agents, peripherals, attachments, from, to, isEveryDevice }: Examined): string => {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / dayMs)
  if (peripherals === 0) return isEveryDevice ? strings.basisNone : strings.basisEmpty({ days })
  return (isEveryDevice ? strings.basisAll : strings.basis)({ days, devices: peripherals, hosts: agents, attachments })
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
 * Says when the decisions take effect; null if all of them do now, or if there are none. Without changed decisions, counts
 * the matching devices.
 */
export const takesEffectText = ({
  prediction,
  matching,
}: {
  prediction: { changed: Pick<Subject, 'peripherals'>; takesEffect: TakesEffect }
  matching: { takesEffect: TakesEffect }
}): string | null => {
  const { now, whenArmed, never }: TakesEffect =
    prediction.changed.peripherals > 0 ? prediction.takesEffect : matching.takesEffect
  if (whenArmed.peripherals + never.peripherals === 0) return null
  const parts = [
    ...(now.peripherals === 0 ? [] : [strings.effectNow({ count: now.peripherals })]),
    ...(whenArmed.peripherals === 0 ? [] : [strings.effectArmed({ count: whenArmed.peripherals })]),
    ...(never.peripherals === 0 ? [] : [strings.effectNever({ count: never.peripherals })]),
  ]
  const count = now.peripherals + whenArmed.peripherals + never.peripherals
  return strings.takesEffect({ count, parts: parts.join(', ') })
}

/** Summarizes what a change of the rules would do. It says what happens to each matching device. */
export const previewSentence = ({
  matching,
  prediction,
}: {
  matching: Pick<Preview['matching'], 'agents' | 'peripherals'>
  prediction: Changed
}): { severity: Severity; text: string } => {
  const change = changeText(prediction)
  if (change !== null) {
    const same = matching.peripherals - prediction.changed.peripherals
    return same > 0 ? { ...change, text: `${change.text} ${strings.restSame({ count: same })}` } : change
  }
  return {
    severity: 'neutral',
    text:
      matching.peripherals === 0
        ? strings.noMatch
        : strings.sameOutcome({ devices: matching.peripherals, hosts: matching.agents }),
  }
}
