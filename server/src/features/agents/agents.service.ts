import type { Agent, AgentDetail, AgentRevocation, BulkResult, FleetEvent } from '@portcullis/contract'
import type { Audit } from '#features/audit/index.ts'
import { notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { type Db, type Tx, transactionAgain } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { JsonText } from '#platform/http/answer.ts'
import { isId } from '#platform/ids.ts'
import type { List } from '#platform/list/list.ts'
import type { AgentsRead } from './agents.read.ts'
import type { AgentsStore } from './agents.store.ts'
import type { EnrollmentDeps } from './enrollment.service.ts'
import type { DeletedAgent } from './revocations.ts'

export interface AgentsDeps {
  db: Db
  clock: Clock
  store: AgentsStore
  read: AgentsRead
  list: List
  audit: Audit
  events: EnrollmentDeps['events'] & { recentOf(agentId: string, limit: number): Promise<FleetEvent[]> }
  /** What an agent is still to do. */
  pendingCommandsOf(agentId: string): Promise<AgentDetail['pendingCommands']>
  /** Debug logs of an agent that are here, newest first. */
  debugLogsOf(agentId: string): Promise<AgentDetail['debugLogs']>
  /** JSON text of an agent's peripherals, in the shape of the list. */
  peripheralsOf(agentId: string): Promise<string[]>
  /** Version of the policy, and the rules that speak to an agent. */
  policyOf(agentId: string): Promise<Pick<AgentDetail['policy'], 'version' | 'rules'>>
  /** What else holds rows of an agent lets go of them, in the transaction that removes it. */
  beforeRemove(tx: Tx, agentIds: readonly string[]): Promise<void>
  /** Signs that an agent was deleted. */
  revoke(agent: DeletedAgent): AgentRevocation | null
  /** Tells every replica, at COMMIT, that these agents are gone. */
  announceRemoved(tx: Tx, agentIds: readonly string[]): Promise<void>
}

export type AgentsService = ReturnType<typeof createAgentsService>

/** Removing an agent touches some ten rows: so many agents end well within the time a statement has (compose.base.ts). */
const rowsPerStatement = 2_000
/** Ids of 37 characters that the details of one audit record hold. */
const idsPerRecord = 200

const slices = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))

const enforcementWords: Readonly<Record<string, string>> = {
  'before-driver': 'can stop a device before a driver binds to it',
  'after-attach': 'can stop a device after it was attached',
  observe: 'can only be observed',
}

interface ModeFacts {
  armed: boolean
  whitelist: boolean
  enforcement: string
  facts: { enforcementReason?: string } | null
}

/** What is in force on a host, and why, in sentences. */
const modeSummary = ({ armed, whitelist, enforcement, facts }: ModeFacts, rules: number): string => {
  const mode = armed
    ? 'Armed: what no rule allows is kept from being used.'
    : 'Free: devices are observed, nothing is blocked.'
  const inForce = rules === 0 ? 'No rule speaks to it' : `${rules} ${rules === 1 ? 'rule speaks' : 'rules speak'} to it`
  const listed = whitelist ? ', so what they do not allow counts as unapproved' : ''
  const why = facts?.enforcementReason ?? ''
  return `${mode} ${inForce}${armed ? '' : listed}. This host ${enforcementWords[enforcement] ?? enforcementWords.observe}.${why === '' ? '' : ` ${why}`}`
}

export const createAgentsService = ({
  db,
  clock,
  store,
  read,
  list,
  audit,
  events,
  peripheralsOf,
  policyOf,
  pendingCommandsOf,
  debugLogsOf,
  beforeRemove,
  announceRemoved,
  revoke,
}: AgentsDeps) => ({
  page: list.page,

  /** One agent with all that its page shows; the parts are JSON text formed by the database. */
  detail: async (agentId: string): Promise<JsonText> => {
    const missing = notFound('There is no agent with this uuid.')
    if (!isId(agentId)) throw missing
    const [rows, detail, peripherals, pendingCommands, debugLogs, policy, recent] = await Promise.all([
      list.rowsWhere(read.isAgent(agentId), 1),
      read.detail(agentId),
      peripheralsOf(agentId),
      pendingCommandsOf(agentId),
      debugLogsOf(agentId),
      policyOf(agentId),
      events.recentOf(agentId, 50),
    ])
    const [row] = rows
    if (row === undefined || detail === undefined) throw missing
    const mode = detail.armed ? 'Armed' : 'Free'
    const rest: Omit<AgentDetail, keyof Agent | 'peripherals' | 'recentEvents'> = {
      pendingCommands,
      policy: {
        mode,
        version: policy.version,
        summary: modeSummary(detail, policy.rules.length),
        enforcement: detail.enforcement,
        heldVersion: detail.policy_version,
        reason: detail.mode_reason,
        whitelist: detail.whitelist,
        rules: policy.rules,
      },
      riskFactors: detail.risk_factors,
      nics: detail.nics,
      debugLogs,
      facts: {
        osName: '',
        osVersion: '',
        kernel: '',
        architecture: '',
        vendor: '',
        model: '',
        chassis: '',
        sku: '',
        ...detail.facts,
      },
      possibleDuplicates: detail.possible_duplicates,
    }
    return new JsonText(
      `${row.slice(0, -1)},"peripherals":[${peripherals.join(',')}],"recentEvents":${JSON.stringify(recent)},${JSON.stringify(rest).slice(1)}`,
    )
  },

  summary: async (query: Readonly<Record<string, unknown>>) => {
    const compiled = list.compile(query)
    const [s, groups] = await Promise.all([read.summary(compiled), read.groups(compiled)])
    const group = (what: string) => groups.filter((g) => g.what === what).map(({ key, count }) => ({ key, count }))
    return {
      total: s.total,
      connected: s.connected,
      disconnected: s.total - s.connected,
      armed: s.armed,
      free: s.total - s.armed,
      unapproved: s.unapproved,
      vulnerable: s.vulnerable,
      knownAttackTools: s.attack_tool,
      bySeverity: group('severity'),
      byOs: group('os'),
      byVersion: group('version'),
      license: { activated: s.activated, pending: s.pending, expired: s.expired, invalid: s.invalid },
      deploymentMode: { agent: s.total - s.agentless, agentless: s.agentless },
      computedAt: new Date(clock.now()).toISOString(),
    }
  },

  /** Removes agents for good: their keys are refused from the COMMIT on. */
  remove: (actor: Actor, uuids: readonly string[]): Promise<BulkResult> =>
    transactionAgain(db, async (tx) => {
      const ids = [...new Set(uuids)]
      const known = ids.filter(isId).sort()
      const removed: Awaited<ReturnType<AgentsStore['remove']>> = []
      for (const some of slices(known, rowsPerStatement)) {
        await beforeRemove(tx, some)
        removed.push(...(await store.remove(tx, new Date(clock.now()), actor.userName, some, revoke)))
      }
      const accepted = new Set(removed.map((r) => r.agent_id))
      if (removed.length > 0) {
        await announceRemoved(tx, [...accepted])
        for (const some of slices(removed, rowsPerStatement))
          await events.append(
            tx,
            some.map((r) => ({
              kind: 'removed' as const,
              agentId: r.agent_id,
              entity: `${r.host} (${r.address})`,
              hashtags: '',
              details: `Removed by ${actor.userName}`,
            })),
          )
        for (const r of removed.slice(0, 1000))
          await audit.write(tx, actor, {
            action: 'agent.removed',
            entity: `${r.host} (${r.address})`,
            details: `agent ${r.agent_id}`,
          })
        for (const some of slices(removed.slice(1000), idsPerRecord))
          await audit.write(tx, actor, {
            action: 'agent.removed',
            entity: `${some.length} more agents`,
            details: some.map((r) => r.agent_id).join(','),
          })
      }
      return { accepted: ids.filter((id) => accepted.has(id)), notFound: ids.filter((id) => !accepted.has(id)) }
    }),
})
