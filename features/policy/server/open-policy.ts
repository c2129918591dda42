import { hasWhitelist, type PolicyDevice, ruleMatches, serialKey } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { PolicyRule } from '#features/contract.ts'
import type { Fingerprint } from '#features/devices/server/index.ts'
import { type PolicyStore, type RuleRow, wireRule } from './policy.store.ts'
import type { Seals } from './seal.ts'

/** A rule for more than one host. */
interface WideRule {
  rule: PolicyRule
  /** Case-folded name of the tag it is bound to; null: all hosts. */
  tag: string | null
}

export const wideRule = (row: RuleRow): WideRule => ({
  rule: wireRule(row),
  tag: row.tag_name === null ? null : fold(row.tag_name),
})

export interface HostPolicy {
  armed: boolean
  /** Returns the only rules that can match this fingerprint and serial number. */
  rulesFor(fingerprint: Fingerprint, serial: string): readonly PolicyRule[]
  /** Returns all rules of the host, for its signed policy. */
  all(): readonly PolicyRule[]
  hasWhitelist(now: number): boolean
}

interface RuledHost {
  armed: boolean
  /** Names of its tags, joined by commas. */
  hashtags: string
  own: readonly PolicyRule[]
}

/** Number of fingerprints with cached candidates, enough for a large fleet. */
const remembered = 50_000

/** Returns a rule without its serial number, to match fingerprints. */
export const forAnySerial = ({ serial: _, hasCleanedSerial: __, ...rule }: PolicyRule): PolicyRule => rule

/** Returns the same text for rules that match the same fingerprints. */
export const criteriaOf = ({ effect, vid, pid, kinds, fingerprint, ruleFingerprint }: PolicyRule): string =>
  JSON.stringify([effect, vid, pid, kinds, fingerprint, ruleFingerprint])

/** Rules with the same criteria, which match the same fingerprints. */
interface Alike {
  sample: PolicyRule
  /** Rules without a serial number, or with one that matches several. */
  any: WideRule[]
  bySerial: Map<string, WideRule[]>
}

const alikeOf = (rules: readonly WideRule[]): Alike => {
  const { any = [], ...named } = Object.groupBy(rules, ({ rule }) =>
    rule.serial === undefined || rule.hasCleanedSerial === true ? 'any' : 'named',
  )
  return {
    sample: forAnySerial((rules[0] as WideRule).rule),
    any,
    bySerial: Map.groupBy(named.named ?? [], ({ rule }) => serialKey(rule.serial as string)),
  }
}

/**
 * The rules for tags and for all hosts, ready for decisions. The candidates depend on the fingerprint and, if a rule
 * names one, on the serial number. A fleet has few fingerprints, so this finds the candidates of each once. A model can
 * have thousands of rules for serial numbers, so these are indexed by serial number.
 */
export const createRuleSet = (version: number, wide: readonly WideRule[]) => {
  const alike = [...Map.groupBy(wide, ({ rule }) => criteriaOf(rule)).values()].map(alikeOf)
  const byVendor = Map.groupBy(alike, ({ sample }) => sample.vid)
  const candidates = new Map<number, readonly Alike[]>()
  /** When the last allow for a tag (null: for all) ends, in ms since 1970. The allowlist applies until then. */
  const whitelistEnds = new Map<string | null, number>()
  for (const { rule, tag } of wide) {
    if (rule.effect !== 'allow' || rule.level === 'grant') continue
    const end = rule.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(rule.expiresAt)
    whitelistEnds.set(tag, Math.max(whitelistEnds.get(tag) ?? 0, end))
  }

  function candidatesOf(fingerprint: Fingerprint): readonly Alike[] {
    const known = candidates.get(fingerprint.id)
    if (known !== undefined) return known
    const device: PolicyDevice = { ...fingerprint.device, serial: '', attackTool: null }
    const found = [...(byVendor.get(fingerprint.vid) ?? []), ...(byVendor.get(undefined) ?? [])].filter(({ sample }) =>
      ruleMatches(sample, device),
    )
    if (candidates.size >= remembered) candidates.clear()
    candidates.set(fingerprint.id, found)
    return found
  }

  return {
    version,
    size: wide.length,
    hostPolicy: ({ armed, hashtags, own }: RuledHost): HostPolicy => {
      const tags = new Set(hashtags === '' ? [] : hashtags.split(',').map(fold))
      const speaks = ({ tag }: WideRule): boolean => tag === null || tags.has(tag)
      return {
        armed,
        rulesFor: (fingerprint, serial) => {
          const found = candidatesOf(fingerprint)
          if (found.length === 0) return own
          const key = serialKey(serial)
          const named = found.flatMap(({ any, bySerial }) => [...any, ...(bySerial.get(key) ?? [])])
          return [...own, ...named.filter(speaks).map(({ rule }) => rule)]
        },
        all: () => [...own, ...wide.filter(speaks).map(({ rule }) => rule)],
        hasWhitelist: (now) =>
          hasWhitelist(armed, own, now) ||
          [null, ...tags].some((tag) => {
            const end = whitelistEnds.get(tag)
            return end !== undefined && end > now
          }),
      }
    },
  }
}

type RuleSet = ReturnType<typeof createRuleSet>

/** A host whose policy is opened. */
export interface OpenedHost {
  agent_id: string
  armed: boolean
  hashtags: string
}

/**
 * Opens the current policies of hosts. Call it after locking the hosts. A rule change that commits later recalculates
 * their decisions and waits for that lock. So a stored decision is never older than the rules.
 */
export const createOpenPolicy = ({ store, seals, log }: { store: PolicyStore; seals: Seals; log: Log }) => {
  let wide: RuleSet = createRuleSet(-1, [])
  let wideLeftOut: readonly string[] = []
  const reported = new Set<string>()

  const authentic = (rows: readonly RuleRow[], leftOut: string[]): RuleRow[] =>
    rows.flatMap((row) => {
      if (seals.isAuthentic(row)) return [seals.withIdentity(row)]
      leftOut.push(row.rule_id)
      if (!reported.has(row.rule_id))
        log.error({ ruleId: row.rule_id }, 'ignoring a rule that this server did not write')
      reported.add(row.rule_id)
      return []
    })

  /** Returns policies by agent id, the version of the rules they come from, and the rules that do not match their seal. */
  async function open(
    tx: Queryable,
    hosts: readonly OpenedHost[],
  ): Promise<{ version: number; policies: Map<string, HostPolicy>; leftOut: readonly string[] }> {
    const { version, own } = await store.versionAndOwn(
      tx,
      hosts.map((h) => h.agent_id),
    )
    if (wide.version !== version) {
      const left: string[] = []
      wide = createRuleSet(version, authentic(await store.wide(tx), left).map(wideRule))
      wideLeftOut = left
    }
    const rules = wide
    const leftOut = [...wideLeftOut]
    const ownOf = Map.groupBy(authentic(own, leftOut), (row) => row.agent_id as string)
    return {
      version,
      leftOut,
      policies: new Map(
        hosts.map(({ agent_id, armed, hashtags }) => [
          agent_id,
          rules.hostPolicy({
            armed,
            hashtags,
            own: (ownOf.get(agent_id) ?? []).map(wireRule),
          }),
        ]),
      ),
    }
  }

  return {
    open,
    /** Discards cached rules, because rules that lost their tag no longer apply although no version changed. */
    forget: (): void => {
      wide = createRuleSet(-1, [])
    },
  }
}

export type OpenPolicy = ReturnType<typeof createOpenPolicy>
