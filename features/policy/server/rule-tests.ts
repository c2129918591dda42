import { decide, isAllowing, type PolicyDecision, type PolicyDevice, serialKey } from '@portcullis/domain'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import type { PolicyRule } from '#features/contract.ts'
import { createRuleSet, wideRule } from './open-policy.ts'
import { type RuleRow, wireRule } from './policy.store.ts'
import type { HostedTest, RuleTestRow } from './rule-tests.store.ts'

const typing: ReadonlySet<string> = new Set(['Keyboard', 'Mouse', 'HID', 'Unknown'])

/** Returns the sample device of a test. `rulePrint`: its rule fingerprint, if known. */
const sampleOf = (test: RuleTestRow, rulePrint: string | undefined): PolicyDevice => ({
  vid: test.vid,
  pid: test.pid,
  serial: test.serial,
  kinds: test.kinds,
  mayType: test.kinds.some((kind) => typing.has(kind)),
  isHub: test.kinds.every((kind) => kind === 'Hub'),
  fingerprint: test.fingerprint ?? '',
  fingerprintWithoutRevision: test.fingerprint ?? '',
  ruleFingerprint: rulePrint ?? test.fingerprint ?? '',
  attackTool: test.is_attack_tool ? 'confirmed' : null,
})

/** Returns the tests that these rules can affect. Ignores tags, which are compared when the tests run. */
export const concernedBy = (rules: readonly Pick<RuleRow, 'vid' | 'agent_id'>[], tests: readonly HostedTest[]) => {
  const keyOf = (vid: string | null, agentId: string | null): string => `${vid ?? ''} ${agentId ?? ''}`
  const keys = new Set(rules.map((rule) => keyOf(rule.vid, rule.agent_id)))
  return tests.filter(({ vid, agent_id: agentId }) =>
    [keyOf(null, null), keyOf(vid, null), keyOf(null, agentId), keyOf(vid, agentId)].some((key) => keys.has(key)),
  )
}

/** Indexes the rules for a host by serial number, because lists of serial numbers can be long. */
const findable = (rules: readonly PolicyRule[]) => {
  const isExact = ({ serial, hasCleanedSerial }: PolicyRule) => serial !== undefined && hasCleanedSerial !== true
  const others = rules.filter((rule) => !isExact(rule))
  const bySerial = Map.groupBy(rules.filter(isExact), ({ serial = '' }) => serialKey(serial))
  return (serial: string): readonly PolicyRule[] => [...others, ...(bySerial.get(serialKey(serial)) ?? [])]
}

/** Maximum time of a turn before a run yields to other work. */
const turnMs = 10

/** Returns the decisions of tests by the given rules, in the order of the tests. */
export const decideTests = async (
  tests: readonly HostedTest[],
  rules: readonly RuleRow[],
  prints: ReadonlyMap<string, string>,
  now: number,
): Promise<PolicyDecision[]> => {
  const applying = rules.filter((r) => r.agent_id === null && (r.tag_name === null || r.tag_id !== null))
  const wide = createRuleSet(0, applying.map(wideRule))
  const ownOf = Map.groupBy(rules, (r) => r.agent_id)
  const known = new Map<string, ReturnType<typeof findable>>()
  const yieldNow = createYielder(turnMs)
  const decisions: PolicyDecision[] = []
  for (const test of tests) {
    await yieldNow()
    const { agent_id: agentId, hashtags, vid, fingerprint, serial } = test
    const key = JSON.stringify([agentId, hashtags, vid])
    let rulesFor = known.get(key)
    if (rulesFor === undefined) {
      const own = agentId === null ? [] : (ownOf.get(agentId) ?? []).map(wireRule)
      const all = wide.hostPolicy({ armed: true, hashtags, own }).all()
      rulesFor = findable(all.filter((rule) => rule.vid === undefined || rule.vid === vid))
      known.set(key, rulesFor)
    }
    decisions.push(decide(rulesFor(serial), sampleOf(test, prints.get(fingerprint ?? '')), now))
  }
  return decisions
}

export const decisionOf = ({ source }: PolicyDecision): 'allow' | 'block' => (isAllowing(source) ? 'allow' : 'block')
