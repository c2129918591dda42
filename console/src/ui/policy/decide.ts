import type { PolicyRuleInput } from '@portcullis/contract'
import { strings } from './strings.ts'

/** A device that is decided about, on its host. */
export interface DecideDevice {
  uuid: string
  hostIdentifier: string
  deviceID: string
  serialNumber: string
}

/** What is decided about: one device, or all devices of a model on some hosts. */
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

/** Hosts of the devices, each once. */
export const hostsOf = (devices: readonly DecideDevice[]): DecideDevice[] => [
  ...new Map(devices.map((device) => [device.uuid, device])).values(),
]

/** The decision as rules: one for each host, else one for the tag or for all. */
export const rulesOf = ({ vid, pid, devices }: DecideSubject, decision: Decision): PolicyRuleInput[] => {
  const { effect, scope, tag, serial, expiresAt, reason, overrideAttackTool } = decision
  const common: PolicyRuleInput = {
    effect: effect === 'deny' ? 'deny' : 'allow',
    vid,
    pid,
    serial: serial === '' ? null : serial,
    expiresAt: effect === 'grant' ? expiresAt : null,
    reason: reason.trim() === '' ? '–' : reason.trim(),
    ...(effect !== 'deny' && overrideAttackTool ? { overrideAttackTool: true } : {}),
  }
  if (scope === 'host') return hostsOf(devices).map(({ uuid }) => ({ ...common, host: uuid }))
  return [scope === 'tag' ? { ...common, tag } : common]
}

/** The decision on the button that makes it. */
export const decideWords = (
  { effect, scope, tag }: Pick<Decision, 'effect' | 'scope' | 'tag'>,
  hosts: number,
): string => {
  const verb = effect === 'allow' ? strings.allow : effect === 'deny' ? strings.deny : strings.grant
  if (scope === 'all') return strings.verbOnAllHosts({ verb })
  if (scope === 'tag') return tag === '' ? strings.verbOnATag({ verb }) : strings.verbOnTagTag({ verb, tag })
  return hosts === 1 ? strings.verbOnThisHost({ verb }) : strings.verbOnHostsHosts({ verb, hosts })
}
