import { policySources, sourceNumber, sourcesSql } from '@portcullis/domain'

/** Labels of decision sources, in the order of `policySources`. The reason of the rule is appended. */
const sourceLabels = [
  'Hubs are always allowed',
  'Attack-tool finding',
  'Denied by a rule',
  'Allowed temporarily by a grant',
  'Allowed on this host',
  'Allowed by tag',
  'Allowed on all hosts',
  'No rule allows it',
] as const

const guardLabels = {
  present: 'not blocked because it was attached before the host was armed',
  recent: 'not blocked because it worked a moment ago at the same port',
  'last-keyboard': 'not blocked because it is the last keyboard of the host',
  'last-pointing-device': 'not blocked because it is the last pointing device of the host',
  'bluetooth-input': 'not blocked because keyboards or pointing devices of the host are connected through it',
  'boot-disk': 'not blocked because the host runs from it',
  unblockable: 'not blocked because the operating system of the host refused to block it',
} as const

/** Returns why a device is allowed or blocked. `ruleReason` is the reason of the deciding rule, if a rule decided. */
export const decisionReason = (source: number, ruleReason: string | null): string => {
  const label = sourceLabels[source] ?? 'No rule allows it'
  return ruleReason === null || ruleReason === '' ? label : `${label}: ${ruleReason}`
}

/** Returns the origin of a decision: the id of the rule, or the name of the source. */
export const decider = (source: number, ruleId: string | null): string => ruleId ?? policySources[source] ?? 'default'

const cases = (column: string, labels: Readonly<Record<string, string>>): string =>
  `case ${column} ${Object.entries(labels)
    .map(([key, text]) => `when '${key}' then '${text}'`)
    .join(' ')} end`

/** Why a host will block a device once it is armed, by decision source. The reason of the rule is appended. */
const onceArmedLabels = {
  [sourceNumber('attack-tool')]: 'it has an attack-tool finding',
  [sourceNumber('deny')]: 'a rule denies it',
  [sourceNumber('default')]: 'no rule allows it',
}

const onceArmed = `case p.source ${Object.entries(onceArmedLabels)
  .map(([source, text]) => `when ${source} then '${text}'`)
  .join(' ')} end`

/** SQL condition: the decision about a peripheral `p` is to block it. */
export const blocksSql = `p.source in ${sourcesSql('attack-tool', 'deny', 'default')}`

/**
 * SQL for `policyState` over a peripheral `p`, its host `a`, the narrow row `pr` and the heartbeat `ph` of the host. An armed
 * host always has an allowlist.
 */
export const policyStateSql = `case
    when not (${blocksSql}) then case when p.authorized or not p.present then 'allowed'
      when pr.armed and ph.policy_due then 'allowedWaiting' else 'allowedNotUsable' end
    when p.present and not p.authorized then 'blocked'
    else case when p.source in ${sourcesSql('attack-tool')} then 'attackTool' when p.source in ${sourcesSql('deny')} then 'denied'
        when a.whitelist or pr.armed then 'notListed' else 'noAllowlist' end
      || case when not p.present then 'Gone' when not pr.armed then ''
        when ph.policy_due and p.enforced ->> 'guard' is null then 'Waiting' else 'Works' end
    end`

/**
 * SQL for the decision reason, over a peripheral `p`, its host row `pr` and the rule `rule`. Only the rule's text comes
 * from a person.
 */
export const decisionReasonSql = `concat_ws('; ',
    case when ${blocksSql} and not pr.armed and not pr.can_block
      then 'The host cannot block devices. The policy does not allow this one: ' || ${onceArmed}
      when ${blocksSql} and not pr.armed
      then 'The host is Free and blocks nothing. Once armed, it blocks this device because ' || ${onceArmed}
      else case p.source ${sourceLabels.map((text, i) => `when ${i} then '${text}'`).join(' ')} end
    end || coalesce(': ' || nullif(rule.reason, ''), ''),
    ${cases(`p.enforced ->> 'guard'`, guardLabels)})`

/** SQL for what decided, over `p`. */
export const deciderSql = `coalesce(p.rule_id::text, case p.source ${policySources.map((name, i) => `when ${i} then '${name}'`).join(' ')} end)`
