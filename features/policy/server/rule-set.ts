import type { PolicyRule } from '@portcullis/contract'
import { hasWhitelist, type PolicyDevice, ruleMatches } from '@portcullis/domain'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Fingerprint } from '#features/devices/server/index.ts'

/** A rule for more than one host. */
export interface WideRule {
  rule: PolicyRule
  /** Case-folded name of the tag it is bound to; null: all hosts. */
  tag: string | null
}

export interface HostPolicy {
  armed: boolean
  /** Returns the rules that may match this fingerprint. Other rules cannot decide about it. */
  rulesFor(design: Fingerprint): readonly PolicyRule[]
  /** Returns all rules of the host, for its signed policy. */
  all(): readonly PolicyRule[]
  hasWhitelist(now: number): boolean
}

export interface RuledHost {
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

  function candidatesOf(design: Fingerprint): readonly WideRule[] {
    const known = candidates.get(design.id)
    if (known !== undefined) return known
    const device: PolicyDevice = { ...design.device, serial: '', attackTool: null }
    const found = [...(byVendor.get(design.vid) ?? []), ...anyVendor].filter(({ rule }) =>
      ruleMatches(rule, rule.serial === undefined ? device : { ...device, serial: rule.serial }),
    )
    if (candidates.size >= remembered) candidates.clear()
    candidates.set(design.id, found)
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
        rulesFor: (design) => {
          const found = candidatesOf(design)
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

export type RuleSet = ReturnType<typeof createRuleSet>
