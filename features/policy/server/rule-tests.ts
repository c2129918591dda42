import { decide, isAllowing, type PolicyDecision, type PolicyDevice } from '@portcullis/domain'
import type { PolicyRule } from '#features/contract.ts'
import { createRuleSet, wideRule } from './open-policy.ts'
import { type RuleRow, wireRule } from './policy.store.ts'
import type { HostedTest, RuleTestRow } from './rule-tests.store.ts'

const typing: ReadonlySet<string> = new Set(['Keyboard', 'Mouse', 'HID', 'Unknown'])

/** Returns the sample device of a test. `rulePrint`: the fingerprint that holds at every port and speed, if it is known. */
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

/** Returns whether a rule may decide a test. Tags are compared when the test runs. */
export const concerns = (rule: Pick<RuleRow, 'vid' | 'agent_id'>, test: RuleTestRow): boolean =>
  (rule.vid === null || rule.vid === test.vid) && (rule.agent_id === null || rule.agent_id === test.agent_id)

/** Returns the decisions of tests by the given rules, in the order of the tests. */
export const decideTests = (
  tests: readonly HostedTest[],
  rules: readonly RuleRow[],
  prints: ReadonlyMap<string, string>,
  now: number,
): PolicyDecision[] => {
  const applying = rules.filter((r) => r.agent_id === null && (r.tag_name === null || r.tag_id !== null))
  const wide = createRuleSet(0, applying.map(wideRule))
  const ownOf = Map.groupBy(rules, (r) => r.agent_id)
  const known = new Map<string, readonly PolicyRule[]>()
  return tests.map((test) => {
    const { agent_id: agentId, hashtags, vid, fingerprint } = test
    const key = JSON.stringify([agentId, hashtags, vid])
    let rulesOfHost = known.get(key)
    if (rulesOfHost === undefined) {
      const own = agentId === null ? [] : (ownOf.get(agentId) ?? []).map(wireRule)
      const all = wide.hostPolicy({ armed: true, hashtags, own }).all()
      rulesOfHost = all.filter((rule) => rule.vid === undefined || rule.vid === vid)
      known.set(key, rulesOfHost)
    }
    return decide(rulesOfHost, sampleOf(test, prints.get(fingerprint ?? '')), now)
  })
}

export const decisionOf = ({ source }: PolicyDecision): 'allow' | 'block' => (isAllowing(source) ? 'allow' : 'block')
