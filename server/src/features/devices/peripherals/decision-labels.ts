import { policySources } from '@portcullis/domain'

/** What each source of a decision means; places are those of `policySources`. A rule's own reason is added behind. */
const sourceWords = [
  'Hubs always pass',
  'Known attack tool',
  'Denied by a rule',
  'Allowed for a time by a grant',
  'Allowed on this host',
  'Allowed by tag',
  'Allowed on all hosts',
  'No rule allows it',
] as const

const guardWords = {
  present: 'it works because it was attached when the host was armed',
  recent: 'it works because it did so a moment ago at the same port',
  'last-keyboard': 'it works because it is the last keyboard of the host',
  'boot-disk': 'it works because the host runs from it',
  unblockable: 'it works because the kernel of the host would not block it',
} as const

/** Why a device is allowed or blocked. `ruleReason` is that of the rule that decided, where there is one. */
export const decisionReason = (source: number, ruleReason: string | null): string => {
  const words = sourceWords[source] ?? 'No rule allows it'
  return ruleReason === null ? words : `${words}: ${ruleReason}`
}

/** Who decided: the id of the rule, else the name of the source. */
export const decider = (source: number, ruleId: string | null): string => ruleId ?? policySources[source] ?? 'default'

const cases = (column: string, words: Readonly<Record<string, string>>): string =>
  `case ${column} ${Object.entries(words)
    .map(([key, text]) => `when '${key}' then '${text}'`)
    .join(' ')} end`

/** SQL over a peripheral `p` whether its decision is to block. */
export const blocksSql = 'p.source in (1, 2, 7)'

/** The reason as SQL, over a peripheral `p`, its host's row `pr` and the rule `rule`. All texts but the rule's are ours. */
export const decisionReasonSql = `concat_ws('; ',
    case when ${blocksSql} and not pr.armed then 'The host is Free and blocks nothing; armed it would block this' end,
    case p.source ${sourceWords.map((text, i) => `when ${i} then '${text}'`).join(' ')} end || coalesce(': ' || rule.reason, ''),
    ${cases(`p.enforced ->> 'guard'`, guardWords)})`

/** Who decided, as SQL over `p`. */
export const deciderSql = `coalesce(p.rule_id::text, case p.source ${policySources.map((name, i) => `when ${i} then '${name}'`).join(' ')} end)`
