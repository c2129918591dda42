import type { PolicyRuleInput } from '#features/contract.ts'
import { strings } from './strings.ts'

/** A device on its host, as the subject of a decision. */
export interface DecideDevice {
  uuid: string
  hostIdentifier: string
  deviceID: string
  serialNumber: string
}

/** The subject of a decision: one device, or all devices of a model on some hosts. */
export interface DecideSubject {
  name: string
  vid: string
  pid: string
  devices: readonly DecideDevice[]
  /** Tags of those hosts, offered first. */
  tags: readonly string[]
  isAttackTool: boolean
  evidence: readonly string[]
}

export type DecideEffect = 'allow' | 'deny' | 'grant'
export type DecideScope = 'host' | 'tag' | 'all'

export interface DecideStart {
  effect: DecideEffect
  scope: DecideScope
}

export interface Decision extends DecideStart {
  tag: string
  /** Only the device with this serial number; empty: the whole model. */
  serial: string
  /** End of a grant. */
  expiresAt: string | null
  reason: string
  overrideAttackTool: boolean
}

/** Returns one device per host. */
export const hostsOf = (devices: readonly DecideDevice[]): DecideDevice[] => [
  ...new Map(devices.map((device) => [device.uuid, device])).values(),
]

/** Returns the decision as rules: one per host, or one for the tag or for all hosts. */
export const rulesOf = ({ vid, pid, devices }: DecideSubject, decision: Decision): PolicyRuleInput[] => {
  const { effect, scope, tag, serial, expiresAt, reason, overrideAttackTool } = decision
  const common: PolicyRuleInput = {
    effect: effect === 'deny' ? 'deny' : 'allow',
    vid,
    pid,
    serial: serial === '' ? null : serial,
    expiresAt: effect === 'grant' ? expiresAt : null,
    // Previews start before the reason of an allow rule is written.
    reason: reason.trim() === '' && effect !== 'deny' ? '–' : reason.trim(),
    ...(effect !== 'deny' && overrideAttackTool ? { overrideAttackTool: true } : {}),
  }
  if (scope === 'host') return hostsOf(devices).map(({ uuid }) => ({ ...common, host: uuid }))
  return [scope === 'tag' ? { ...common, tag } : common]
}

/** Returns the label of the button that makes the decision. */
export const decideLabel = (
  { effect, scope, tag }: Pick<Decision, 'effect' | 'scope' | 'tag'>,
  hosts: number,
): string => {
  if (scope === 'all') return strings.buttonAll({ effect })
  if (scope === 'tag') return tag === '' ? strings.buttonAnyTag({ effect }) : strings.buttonTag({ effect, tag })
  return strings.buttonHosts({ effect, hosts })
}
