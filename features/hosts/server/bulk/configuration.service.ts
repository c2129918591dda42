import { mustExist, revertMinutesOf, type WindowsRefusal, windowsRefusals } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { ResolvedAgent } from '#features/agents/server/index.ts'
import { objectsMost } from '#features/audit/server/index.ts'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import type { agentsConfiguration, BodyOf, ResponseOf } from '#features/contract.ts'
import type { HostsContext } from '../context.ts'
import { createBulkRead, type Target } from './bulk.read.ts'
import { type Bulk, jobsPerPerson } from './bulk.service.ts'
import type { ConfigurationChange, ConfigurationItem } from './gated.ts'
import { commandFor, impossible } from './possible.ts'
import { recordJob, recordOrder } from './record.ts'

/** Above this number of hosts, the server responds at once and a job signs the commands. */
const signedAtOnce = 500

type Given = NonNullable<BodyOf<typeof agentsConfiguration>>
type Answer = ResponseOf<typeof agentsConfiguration>

const modes: Readonly<Record<string, 'Armed' | 'Free'>> = { ARM: 'Armed', FREE: 'Free' }
const labels = { Armed: 'arm', Free: 'free' } as const
const none = { builds: new Map() }

/** Reads the request for one host. Every fault is a 400 that names the item. */
const readRequest = (item: Given[number], i: number): Omit<ConfigurationItem, 'uuid'> => {
  const asked = item.agentConfigViewResource ?? {}
  const text = asked.isSystemArmed ?? ''
  const mode = modes[text.trim().toUpperCase()] ?? null
  const at = `body[${i}].agentConfigViewResource`
  if (text !== '' && mode === null) throw invalid(`${at}.isSystemArmed`, 'must be ARM or free')
  const approveAll = asked.approveAll === true
  if (mode === null && !approveAll) throw invalid(at, 'requests nothing; set isSystemArmed or approveAll')
  const { revertMinutes } = asked
  return {
    mode,
    approveAll,
    applyToPresent: asked.applyToPresent === true,
    ...(revertMinutes == null ? {} : { revertMinutes }),
  }
}

/** Arms and frees hosts on request of connectors: by identities, all or nothing. */
export const createConfiguration = (
  { db, agents, commands, changeRequests, windows, audit, policy }: HostsContext,
  { enqueue }: Bulk,
) => {
  const read = createBulkRead(db)
  function assertPossible(agent: ResolvedAgent, request: Omit<ConfigurationItem, 'uuid'>, i: number): void {
    if (request.mode === null) return
    const able = { ...agent, version: '', architecture: '', release_key: '' }
    const reason = impossible(labels[request.mode], able, none.builds)
    if (reason !== null) throw invalid(`body[${i}]`, `${agent.hostIdentifier}: ${reason}`)
  }

  /** Refuses the request if one of its Windows hosts must not be armed. */
  async function assertArmable(
    tx: Tx,
    agents: readonly ResolvedAgent[],
    items: readonly ConfigurationItem[],
  ): Promise<void> {
    const arming = items.filter((item) => item.mode === 'Armed').map((item) => item.uuid)
    if (arming.length === 0) return
    const refused: ReadonlyMap<string, WindowsRefusal> = await windows.refused(tx, read.named(arming))
    for (const { uuid, hostIdentifier } of agents) {
      const code = refused.get(uuid)
      if (code !== undefined) throw new AppError(code, { host: hostIdentifier, reason: windowsRefusals[code] })
    }
  }

  /** Creates a job for each mode and marks its hosts. Returns the jobs for the audit trail. */
  async function enqueueModes(
    tx: Tx,
    actor: Actor,
    items: readonly ConfigurationItem[],
    bounds: { mostPerPerson?: number },
  ) {
    const jobs = []
    for (const some of Map.groupBy(
      items,
      (item) => `${item.mode} ${item.applyToPresent} ${item.revertMinutes}`,
    ).values()) {
      const { mode, applyToPresent, revertMinutes } = mustExist(some[0], 'an item of a job')
      const action = labels[mustExist(mode, 'the mode of a job')]
      const uuids = some.map((item) => item.uuid).sort()
      const jobId = await enqueue(tx, actor, { action, applyToPresent, revertMinutes, uuids }, bounds)
      jobs.push({ action, uuids, revertMinutes, jobId })
    }
    return jobs
  }

  /**
   * Approves, queues and records in the caller's transaction. Skips deleted hosts. For many hosts, a job signs the
   * commands.
   */
  async function carryOut(
    tx: Tx,
    actor: Actor,
    { items, devices }: ConfigurationChange,
    approved: number | 'all',
    bounds: { mostPerPerson?: number } = {},
  ): Promise<NeedsApprover | undefined> {
    const modes = items.filter((item) => item.mode !== null)
    const later = modes.length > signedAtOnce ? modes : []
    const named = later.length === 0 ? items : items.filter((item) => item.mode === null || item.approveAll)
    const targets = new Map<string, Target>(
      named.length === 0
        ? []
        : (await read.targets(tx, read.named(named.map((item) => item.uuid)))).map((target) => [
            target.agent_id,
            target,
          ]),
    )
    const known = named.flatMap((item) => {
      const target = targets.get(item.uuid)
      return target === undefined ? [] : [{ ...item, target }]
    })
    const now = later.length === 0 ? known : known.filter((item) => item.mode === null)
    const approving = known.filter((item) => item.approveAll).map((item) => item.uuid)
    const specs = now.flatMap(({ target, mode, applyToPresent, revertMinutes }) => {
      const options = { applyToPresent, revertMinutes, builds: none.builds }
      const spec = mode === null ? null : commandFor(labels[mode], target, options)
      return spec === null ? [] : [spec]
    })
    const rules =
      approving.length === 0 ? null : await policy.approvePresent(tx, actor, approving, { approved, only: devices })
    if (rules instanceof NeedsApprover) return rules
    const { refused } = await commands.queue(tx, actor, specs)
    const [first] = refused
    if (first !== undefined)
      throw new AppError(first[1].code, { host: targets.get(first[0])?.host ?? first[0], reason: first[1].reason })
    const jobs = await enqueueModes(tx, actor, later, bounds)
    if (rules?.record) await audit.write(tx, actor, rules.record)
    for (const job of jobs) await recordJob(audit, tx, actor, { ...job, selection: 'hosts by name' })
    for (const some of Map.groupBy(now, (item) => `${item.mode} ${item.revertMinutes}`).values()) {
      const { mode, revertMinutes } = mustExist(some[0], 'an item of an order')
      const action = mode === null ? 'approveAll' : labels[mode]
      // The record of the approval names the hosts already.
      if (mode === null && rules?.record && approving.length <= objectsMost) continue
      await recordOrder(
        audit,
        tx,
        actor,
        action,
        some.map(({ target }) => target),
        revertMinutes,
      )
    }
  }

  return {
    carryOut: async (tx: Tx, actor: Actor, change: ConfigurationChange): Promise<void> => {
      await carryOut(tx, actor, change, 'all')
    },

    configure: async (actor: Actor, body: Given | null): Promise<Answer> => {
      const given = body ?? []
      if (given.length === 0) return []
      const asked = given.map(readRequest)
      const freed = asked.filter((request) => request.mode === 'Free').length
      async function plan(tx: Tx) {
        const resolved = await agents.resolve(tx, given, 'body')
        const positions = new Map<string, number>()
        const items = resolved.map((agent, i) => {
          const before = positions.get(agent.uuid)
          if (before !== undefined)
            throw invalid(`body[${i}]`, `identifies ${agent.hostIdentifier} again, like body[${before}]`)
          positions.set(agent.uuid, i)
          const request = mustExist(asked[i], 'the request for a host')
          assertPossible(agent, request, i)
          return { uuid: agent.uuid, ...request }
        })
        await assertArmable(tx, resolved, items)
        const arming = items.filter((item) => item.mode === 'Armed')
        const armed = await read.armedWith(tx, read.named(arming.map((item) => item.uuid)))
        const withDefaults = items.map((item) =>
          item.mode === 'Armed' ? { ...item, revertMinutes: revertMinutesOf(item.revertMinutes, armed) } : item,
        )
        return { resolved, items: withDefaults }
      }
      // The server validates the request before it asks for approval. The records use their own transactions, so that a
      // refusal does not roll them back.
      const { resolved, items } = await transactionAgain(db, plan)
      async function proposed() {
        const approving = items.filter((item) => item.approveAll).map((item) => item.uuid)
        const devices = approving.length === 0 ? {} : { devices: await policy.attachedTo(approving) }
        return { kind: 'configuration', change: { items, ...devices } satisfies ConfigurationChange }
      }
      await changeRequests.assertAlone(actor, { kind: 'release', hosts: freed }, proposed)
      const waits = await transactionAgain(db, (tx) =>
        carryOut(tx, actor, { items }, 0, { mostPerPerson: jobsPerPerson }),
      )
      // If approving attached devices opens too many hosts, the whole order waits, not only its rules.
      if (waits !== undefined)
        await changeRequests.settle(actor, new NeedsApprover({ ...waits.proposed, ...(await proposed()) }))
      // The caller then reads the new decisions.
      if (items.some((item) => item.approveAll)) await policy.settle()
      return resolved.map((agent, i) => ({
        uuid: agent.uuid,
        hostIdentifier: agent.hostIdentifier,
        ipAddress: agent.ipAddress,
        agentConfigViewResource: {
          isSystemArmed: given[i]?.agentConfigViewResource?.isSystemArmed ?? null,
          isSystemLocked: null,
          centralizedConsoleIP: null,
        },
      }))
    },
  }
}
