import { strings } from '@portcullis/platform/console/ui/strings.ts'
import type { Agent } from '#features/contract.ts'

/** Shown state of a host: whether it enforces the policy, and whether that is currently known. */
export type HostState = 'armed' | 'free' | 'disconnectedArmed' | 'disconnectedFree' | 'licence'

export type StatusOfHost = Pick<Agent, 'displayStatusCombined' | 'operationalStatus'>

const licenceWords: Readonly<Record<string, (values: { mode: string }) => string>> = {
  Pending: strings.licencePendingMode,
  Expired: strings.licenceExpiredMode,
  Invalid: strings.licenceInvalidMode,
}

/** Returns the state of a host with its label. A host that is not connected keeps its mode, so the label names it. */
export const hostStateOf = ({ displayStatusCombined, operationalStatus }: StatusOfHost): [HostState, string] => {
  const isArmed = operationalStatus === 'Armed'
  if (displayStatusCombined === 'Disconnected')
    return isArmed ? ['disconnectedArmed', strings.disconnectedArmed] : ['disconnectedFree', strings.disconnectedFree]
  const licence = licenceWords[displayStatusCombined]
  if (licence !== undefined) return ['licence', licence({ mode: operationalStatus })]
  return isArmed ? ['armed', strings.armed] : ['free', strings.free]
}
