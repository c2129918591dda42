import { hostsText } from '#features/agents/server/index.ts'
import type { MeasuredChange } from './newly-allowed.read.ts'
import { inBrackets, namesSerial } from './policy.rules.ts'
import type { RuleRow } from './policy.store.ts'
import { printOf } from './seal.ts'

/** The properties of a rule that say which devices it matches. */
type Matched = Pick<RuleRow, 'vid' | 'pid' | 'serial' | 'exact_serial' | 'kinds' | 'fingerprint' | 'rule_fingerprint'>

export const whatOf = (r: Matched): string => {
  const kinds = r.kinds === null ? '' : `every ${r.kinds.join(' or ').toLowerCase()}`
  const ids =
    r.vid === null
      ? ''
      : r.pid === null
        ? `every device of vendor ${r.vid}`
        : `${r.vid}:${r.pid}${r.serial === null ? '' : r.serial === '' ? ' without a serial number' : ` with serial number ${JSON.stringify(r.serial)}${r.exact_serial === false ? ', as an earlier release cleaned it' : ''}`}`
  const print = printOf(r)
  const parts = [
    ids,
    kinds,
    r.fingerprint === null ? '' : `fingerprint ${r.fingerprint}${print === r.fingerprint ? '' : `, as ${print}`}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** Names of hosts by id. Messages show the id of a host that is missing here. */
type HostNames = ReadonlyMap<string, string>

/** Names a host with its id, because several hosts can have one name. */
export const hostText = (id: string, names: HostNames): string => {
  const name = names.get(id)
  return name === undefined ? id : `${name} (${id})`
}

const whereOf = (r: RuleRow, names: HostNames): string =>
  r.agent_id !== null
    ? `on host ${hostText(r.agent_id, names)}`
    : r.tag_name !== null
      ? `on hosts with tag ${r.tag_name}`
      : 'on every host'

const endOf = (r: RuleRow): string =>
  r.expires_at === null
    ? ''
    : ` until ${r.expires_at
        .toISOString()
        .replace(/:00\.000Z$/, 'Z')
        .replace('T', ' ')
        .replace('Z', ' UTC')}`

const verbs = { allow: 'allow', deny: 'deny' } as const

const nounOf = (r: RuleRow): string => (r.is_grant ? 'grant' : 'rule')

/** Number of rules that a title names. */
const named = 4

const sentenceOf = (r: RuleRow, names: HostNames): string =>
  `${verbs[r.effect]}${r.is_grant ? ' by a grant' : ''} ${whatOf(r)} ${whereOf(r, names)}${endOf(r)}${r.override_attack_tool ? ', even a known attack tool' : ''}`

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Ranks a rule by how much it affects: 0 for every device on every host. */
const widthOf = (r: RuleRow): number => {
  const hosts = r.agent_id !== null ? 2 : r.tag_name !== null ? 1 : 0
  const devices = namesSerial(r) ? 3 : r.fingerprint !== null ? 2 : r.pid !== null ? 1 : 0
  return hosts * 4 + devices
}

/** Returns the rules that a change writes and deletes: first what allows attack tools, then other allows, widest first. */
const partsOf = ({ gone, write }: MeasuredChange): { rule: RuleRow; isWritten: boolean }[] => {
  const written = new Set(write.map((r) => r.rule_id))
  const rankOf = (r: RuleRow, isWritten: boolean): number =>
    isWritten && r.effect === 'allow' && r.override_attack_tool ? 0 : isWritten === (r.effect === 'allow') ? 1 : 2
  return [
    ...write.map((rule) => ({ rule, isWritten: true })),
    ...gone.filter((r) => !written.has(r.rule_id)).map((rule) => ({ rule, isWritten: false })),
  ].sort((a, b) => rankOf(a.rule, a.isWritten) - rankOf(b.rule, b.isWritten) || widthOf(a.rule) - widthOf(b.rule))
}

/** Lists every rule that a change adds, replaces or deletes, one per line. */
export const linesOfChange = (change: MeasuredChange, names: HostNames): string[] => {
  const old = new Map(change.gone.map((r) => [r.rule_id, r]))
  return partsOf(change).map(({ rule: r, isWritten }) => {
    if (!isWritten) return `Delete the ${nounOf(r)} "${sentenceOf(r, names)}"${inBrackets(r.reason)}`
    const before = old.get(r.rule_id)
    const instead = before === undefined ? '' : `, instead of "${sentenceOf(before, names)}"`
    return upper(`${sentenceOf(r, names)}${instead}${inBrackets(r.reason)}`)
  })
}

/** Describes where a change newly allows devices. */
export const reachOf = (hosts: number, isForLaterHosts: boolean): string => {
  const present = hostsText(hosts)
  if (!isForLaterHosts) return present
  return hosts === 0 ? 'hosts that enrol later; no host is enrolled yet' : `${present}, and on hosts that enrol later`
}

/** Describes a rule change for its approver: the rules it adds and deletes, and the number of hosts it opens. */
export const titleOfChange = (
  change: MeasuredChange,
  names: HostNames,
  { hosts, isForLaterHosts }: { hosts: number; isForLaterHosts: boolean },
): string => {
  const parts = partsOf(change).map(({ rule: r, isWritten }) =>
    isWritten ? sentenceOf(r, names) : `delete the ${nounOf(r)} "${verbs[r.effect]} ${whatOf(r)} ${whereOf(r, names)}"`,
  )
  const more = parts.length > named ? `; and ${parts.length - named} more rule changes` : ''
  const text = `${parts.slice(0, named).join('; ')}${more} (newly allows devices on ${reachOf(hosts, isForLaterHosts)})`
  return upper(text)
}
