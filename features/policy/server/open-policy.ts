import { hasWhitelist, type PolicyDevice, ruleMatches } from '@portcullis/domain'
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
  /** Returns the rules that may match this fingerprint. Other rules cannot decide about it. */
  rulesFor(fingerprint: Fingerprint): readonly PolicyRule[]
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

/**
 * The rules for tags and for all hosts, ready for decisions. The candidates depend on the fingerprint and, if a rule
 * names one, on the serial number. A fleet has few fingerprints, so this finds the candidates of each once.
 */
export const createRuleSet = (version: number, wide: readonly WideRule[]) => {
  const byVendor = Map.groupBy(
    wide.filter(({ rule }) => rule.vid !== undefined),
    ({ rule }) => rule.vid as string,
  )
  const anyVendor = wide.filter(({ rule }) => rule.vid === undefined)
  const candidates = new Map<number, readonly WideRule[]>()
  /** When the last allow for a tag (null: for all) ends, in ms since 1970. The allowlist applies until then. */
  const whitelistEnds = new Map<string | null, number>()
  for (const { rule, tag } of wide) {
    if (rule.effect !== 'allow' || rule.level === 'grant') continue
    const end = rule.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(rule.expiresAt)
    whitelistEnds.set(tag, Math.max(whitelistEnds.get(tag) ?? 0, end))
  }

  function candidatesOf(fingerprint: Fingerprint): readonly WideRule[] {
    const known = candidates.get(fingerprint.id)
    if (known !== undefined) return known
    const device: PolicyDevice = { ...fingerprint.device, serial: '', attackTool: null }
    const found = [...(byVendor.get(fingerprint.vid) ?? []), ...anyVendor].filter(({ rule }) =>
      ruleMatches(rule, rule.serial === undefined ? device : { ...device, serial: rule.serial }),
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
        rulesFor: (fingerprint) => {
          const found = candidatesOf(fingerprint)
          if (found.length === 0) return own
          return [...own, ...found.filter(speaks).map(({ rule }) => rule)]
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
