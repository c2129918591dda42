import { cleanText, unescapeText } from '@portcullis/domain'
import {
  agentLimits,
  type PolicyPayload,
  type PolicyRequest,
  type PolicyRule,
  type SignedText,
} from '#features/contract.ts'
import type { OpenPolicy } from './open-policy.ts'
import type { PolicyContext } from './policy.context.ts'

/**
 * Returns a rule in the form that the agent of a host compares. Null: the agent cannot compare it, so fewer devices work.
 * Agents of earlier releases compare cleaned serial numbers and fingerprints that depend on the speed.
 */
const ruleFor = (rule: PolicyRule, understandsIdentity: boolean): PolicyRule | null => {
  if (understandsIdentity) return rule
  const { hasCleanedSerial, ruleFingerprint: _, ...earlier } = rule
  if (earlier.serial === undefined || hasCleanedSerial === true) return earlier
  const original = unescapeText(earlier.serial)
  const cleaned = cleanText(original)
  // Several devices may have this cleaned serial number.
  if (earlier.effect === 'allow' && original.trim() !== cleaned) return null
  return { ...earlier, serial: cleaned }
}

/** Creates the policy of one host, signed for that host and that request, so that nobody can replay it. */
export const createAgentPolicy =
  (
    {
      db,
      clock,
      log,
      agents,
      policySettings: settings,
      integrity,
      keys,
      peripherals: { accepted },
      knowledge,
    }: PolicyContext,
    open: OpenPolicy['open'],
  ) =>
  async (agentId: string, { nonce, understands = [] }: PolicyRequest): Promise<SignedText | null> => {
    await integrity.assertWhole()
    let commandKey = 0
    let leftOut: readonly string[] = []
    const policy = await db.transaction(async (tx): Promise<PolicyPayload | null> => {
      const host = await agents.takePolicyDue(tx, agentId)
      if (host === undefined) return null
      commandKey = host.command_key
      const opened = await open(tx, [{ agent_id: agentId, ...host }])
      const { version, policies } = opened
      leftOut = opened.leftOut
      const now = clock.now()
      const rules = (policies.get(agentId)?.all() ?? [])
        .filter((rule) => rule.expiresAt === undefined || Date.parse(rule.expiresAt) > now)
        .flatMap((rule) => ruleFor(rule, understands.includes('identity')) ?? [])
      if (rules.length > agentLimits.rules)
        log.error(
          { agentId, rules: rules.length },
          'a host has more rules than an agent accepts; its widest rules are omitted',
        )
      // An agent without support for this member would refuse the whole policy.
      const options = understands.includes('options') ? await settings.options(tx, host.hashtags) : undefined
      const fingerprints = understands.includes('accepted') ? await accepted.inForce(tx) : []
      return {
        kind: 'policy',
        agentId,
        nonce,
        version,
        issuedAt: new Date(now).toISOString(),
        // Denies come first: if rules beyond the limit are omitted, the host only blocks more.
        rules: [...rules]
          .sort((a, b) => Number(a.effect === 'allow') - Number(b.effect === 'allow'))
          .slice(0, agentLimits.rules),
        knowledgeHash: knowledge.forAgents().hash,
        contact: (await settings.read(tx)).contact,
        ...(options === undefined ? {} : { options }),
        ...(fingerprints.length === 0 ? {} : { accepted: fingerprints.slice(0, agentLimits.accepted) }),
      }
    })
    if (policy === null) return null
    await integrity.assertLeftOut(leftOut)
    const payload = JSON.stringify(policy)
    return { payload, signature: keys.command.signerFor(commandKey, clock.now()).sign(payload) }
  }
