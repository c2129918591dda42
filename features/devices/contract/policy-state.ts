/** Why the policy does not allow a device, with its label. */
const reasons = {
  attackTool: 'Denied by a finding',
  denied: 'Denied by a rule',
  notListed: 'Not on the allowlist',
  noAllowlist: 'No allowlist',
} as const

/** What happens to a device that the policy does not allow, with the end of its label. Without one: its host is Free. */
const effects = {
  '': '',
  Waiting: ', waiting for host',
  Works: ', still works',
  Gone: ', detached',
} as const

type Refused = `${keyof typeof reasons}${keyof typeof effects}`
export type PolicyState = 'allowed' | 'allowedWaiting' | 'allowedNotUsable' | 'blocked' | Refused

/**
 * What the policy does with a device on its host, with the label that console, files and reports show. One expression of the
 * server (`policyStateSql`) computes it, so all of them agree.
 */
export const policyStateLabels = {
  allowed: 'Allowed',
  allowedWaiting: 'Allowed, waiting for host',
  allowedNotUsable: 'Allowed, not usable',
  blocked: 'Blocked',
  ...Object.fromEntries(
    Object.entries(reasons).flatMap(([reason, label]) =>
      Object.entries(effects).map(([effect, end]) => [`${reason}${effect}`, `${label}${end}`]),
    ),
  ),
} as Readonly<Record<PolicyState, string>>

export const policyStates = Object.keys(policyStateLabels) as PolicyState[]
