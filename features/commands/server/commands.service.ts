import { cleanText, mustExist } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { slices } from '@portcullis/platform/server/slices.ts'
import type { CommandTarget } from '#features/agents/server/index.ts'
import type { AgentCommandBodies, AgentCommandKind, CheckInRequest, ErrorCode, SignedText } from '#features/contract.ts'
import { type EventOrigin, eventOrigin, type NewEvent } from '#features/events/server/index.ts'
import {
  type Ack,
  createCommandsStore,
  type DeliveredCommand,
  type EndedCommand,
  type NewCommand,
} from './commands.store.ts'
import type { CommandsContext } from './context.ts'

/** Number of rows per statement: each changes some index entries, and 2,000 take well under a second. */
const rowsPerStatement = 2_000
const keptMs = 90 * 24 * 3_600_000

export type CommandSpec = {
  [K in AgentCommandKind]: {
    agentId: string
    kind: K
    body: AgentCommandBodies[K]
    /** Title for people, for example `Arm`. */
    title: string
    /** Job that waits for it. */
    jobId?: string
  }
}[AgentCommandKind]

/** Why a host must not be armed: an error code and its message. */
export interface ArmingRefusal {
  code: ErrorCode
  reason: string
}

/** Returns the hosts that must not be armed. Runs in the transaction of the order, after its hosts are locked. */
export type ArmingCheck = (tx: Tx, agentIds: readonly string[]) => Promise<ReadonlyMap<string, ArmingRefusal>>

const isArming = (spec: CommandSpec): boolean => spec.kind === 'configure' && spec.body.mode === 'Armed'

export const createCommandsService = ({
  db,
  clock,
  keys: { command: commandKeys },
  log,
  agents,
  events,
  jobs,
  settings,
  announce,
}: CommandsContext) => {
  const store = createCommandsStore(db)
  let check: ArmingCheck | null = null

  /** Adds ended commands to the progress of their jobs. */
  function countFor(tx: Tx, ended: readonly EndedCommand[]): Promise<void> {
    const parts = new Map<string, { jobId: string; done: number; failed: number }>()
    for (const { job_id: jobId, state, was } of ended) {
      if (jobId === null) continue
      const part = parts.get(jobId) ?? { jobId, done: 0, failed: 0 }
      if (state === 'confirmed') part.done++
      else part.failed++
      // It was already counted when it was cancelled or expired.
      if (was === 'cancelled' || was === 'expired') part.failed--
      parts.set(jobId, part)
    }
    return jobs.count(tx, [...parts.values()])
  }

  /** Clears the pending state of agents without active commands. */
  async function settle(tx: Tx, agentIds: readonly string[]): Promise<void> {
    const waiting = await store.waiting(tx, agentIds)
    const idle = agentIds.filter((id) => !waiting.has(id))
    if (idle.length > 0) await agents.commandsDone(tx, idle)
  }

  async function signAll(
    specs: readonly CommandSpec[],
    targets: ReadonlyMap<string, CommandTarget>,
    expiresAt: Date,
  ): Promise<{ commands: NewCommand[]; counters: Map<string, number> }> {
    const now = clock.now()
    const counters = new Map<string, number>()
    const drafts = specs.map(({ agentId, kind, body, title, jobId }) => {
      const { host, command_counter, command_key } = mustExist(targets.get(agentId), 'the target of a command')
      const counter = Math.max((counters.get(agentId) ?? command_counter) + 1, now)
      counters.set(agentId, counter)
      const id = newId(now)
      const payload = JSON.stringify({ id, agentId, kind, counter, expiresAt: expiresAt.toISOString(), ...body })
      return { id, agentId, host, kind, title, counter, payload, command_key, expiresAt, jobId: jobId ?? null }
    })
    const commands: NewCommand[] = []
    // Hosts hold only a few different keys. Each lookup of a signer checks the key file.
    for (const [key, some] of Map.groupBy(drafts, (draft) => draft.command_key)) {
      const signer = commandKeys.signerFor(key, now)
      const signatures = await signer.signAll(some.map((draft) => draft.payload))
      for (const [i, { command_key: _, ...draft }] of some.entries())
        commands.push({ ...draft, signature: mustExist(signatures[i], 'a signature'), keyNumber: signer.number })
    }
    return { commands, counters }
  }

  /** Returns a stored command, signed with the current key of its host; null: its stored signature is not valid. */
  function signedFor({ agent_id, payload, signature, key_number, command_key }: DeliveredCommand): SignedText | null {
    const signer = commandKeys.signerFor(command_key, clock.now())
    if (signer.number === key_number) return { payload, signature }
    // The host has adopted another key since. Only a command with a valid old signature gets a new one.
    if (commandKeys.isSignedBy(key_number, payload, signature, clock.now()))
      return { payload, signature: signer.sign(payload) }
    log.error(
      { agentId: agent_id, key: key_number },
      'a stored command is not signed by the key that it names, or that key is retired',
    )
    return null
  }

  const failureOf = (target: CommandTarget, details: string): NewEvent => ({
    ...eventOrigin(target),
    kind: 'commandFailed',
    details,
  })

  const byAgent = (a: { agentId: string }, b: { agentId: string }): number => (a.agentId < b.agentId ? -1 : 1)

  /** Returns the hosts of these orders that must not be armed. Every order is checked here. */
  async function refusedOf(tx: Tx, specs: readonly CommandSpec[]): Promise<ReadonlyMap<string, ArmingRefusal>> {
    const arming = specs.filter(isArming).map((spec) => spec.agentId)
    if (arming.length === 0) return new Map()
    if (check === null) throw new Error('commands to arm have no check')
    return check(tx, arming)
  }

  return {
    /** Registers the check of commands to arm. Call it at the start. */
    addArmingCheck: (asked: ArmingCheck): void => {
      check = asked
    },
    hasArmingCheck: (): boolean => check !== null,

    /**
     * Signs commands and stores them until their hosts have ended them. Connected hosts are woken at COMMIT. A newer
     * command replaces a waiting one of the same kind. Returns the agents that exist, the missing ones, and those that
     * must not be armed. The latter keep their marks. With `onlyMarked`, skips agents that are not marked for the job
     * of their spec. Locks agents in id order, then commands, then jobs.
     */
    queue: async (
      tx: Tx,
      actor: Pick<Actor, 'userName'>,
      specs: readonly CommandSpec[],
      { onlyMarked = false } = {},
    ): Promise<{ queued: string[]; missing: string[]; refused: Map<string, ArmingRefusal> }> => {
      const now = new Date(clock.now())
      const lifeHours = (await settings.values(tx, 'vendorA')).number('VENDORA_COMMAND_EXPIRY_HOURS')
      const expiresAt = new Date(clock.now() + lifeHours * 3_600_000)
      const queued: string[] = []
      const missing: string[] = []
      const refused = new Map<string, ArmingRefusal>()
      const replaced: EndedCommand[] = []
      for (const some of slices([...specs].sort(byAgent), rowsPerStatement)) {
        const targets = new Map(
          (
            await agents.lockForCommands(
              tx,
              some.map((spec) => spec.agentId),
            )
          ).map((target) => [target.agent_id, target]),
        )
        const wanted = some.filter(({ agentId, jobId }) => {
          const target = targets.get(agentId)
          return target !== undefined && (!onlyMarked || target.mode_job === jobId)
        })
        const unarmable = await refusedOf(tx, wanted)
        for (const [agentId, refusal] of unarmable) refused.set(agentId, refusal)
        const possible = wanted.filter((spec) => !(isArming(spec) && unarmable.has(spec.agentId)))
        missing.push(...some.filter((spec) => !targets.has(spec.agentId)).map((spec) => spec.agentId))
        if (possible.length === 0) continue
        for (const [kind, ofKind] of Map.groupBy(possible, (spec) => spec.kind)) {
          const agentIds = ofKind.map((spec) => spec.agentId)
          replaced.push(...(await store.end(tx, now, 'cancelled', 'Replaced by a newer command.', { agentIds, kind })))
        }
        const { commands, counters } = await signAll(possible, targets, expiresAt)
        await store.insert(tx, now, actor.userName, commands)
        const modes = possible.filter((spec) => spec.kind === 'configure').map((spec) => spec.agentId)
        await agents.commandsPending(tx, counters, new Set(modes))
        queued.push(...counters.keys())
      }
      await countFor(tx, replaced)
      if (queued.length > 0) {
        await announce(tx, { agents: queued })
        await agents.wake(tx, queued)
      }
      return { queued, missing, refused }
    },

    /**
     * Marks agents for a job that will sign their new mode with `queue`. From then on, a command is pending for them. A
     * newer mode, a cancellation or another job removes the mark.
     */
    orderModes: async (tx: Tx, jobId: string, agentIds: readonly string[]): Promise<void> => {
      await agents.orderModes(tx, jobId, agentIds)
      await announce(tx, { agents: agentIds })
    },

    /** Removes the marks of a job from some of these agents, in a step of the job. Locks all of them in id order. */
    dropModes: async (tx: Tx, jobId: string, agentIds: readonly string[], unable: readonly string[]): Promise<void> => {
      await agents.lockForCommands(tx, agentIds)
      const dropped = await agents.withdrawModes(tx, unable, jobId)
      if (dropped.length > 0) await settle(tx, dropped)
    },

    /**
     * Withdraws the orders of a job that it has not signed. A title means that the job failed: creates an event for
     * each of these agents.
     */
    withdrawModes: async (jobId: string, agentIds: readonly string[], failed: string | null): Promise<void> => {
      for (const some of slices([...agentIds].sort(), rowsPerStatement))
        await db.transaction(async (tx) => {
          const targets = await agents.lockForCommands(tx, some)
          const withdrawn = new Set(await agents.withdrawModes(tx, some, jobId))
          if (withdrawn.size === 0) return
          await settle(tx, [...withdrawn])
          await announce(tx, { agents: [...withdrawn] })
          if (failed === null) return
          const left = targets.filter((target) => withdrawn.has(target.agent_id))
          await events.append(
            tx,
            left.map((target) => failureOf(target, `${failed}: the server could not sign the command`)),
          )
        })
    },

    /** Returns the pending commands of these agents, for the responses to their check-ins. */
    deliver: async (agentIds: readonly string[]): Promise<Map<string, SignedText[]>> => {
      const rows = await store.deliver(new Date(clock.now()), agentIds)
      const result = new Map<string, SignedText[]>()
      for (const row of rows) {
        const signed = signedFor(row)
        if (signed === null) continue
        const commands = result.get(row.agent_id)
        if (commands === undefined) result.set(row.agent_id, [signed])
        else commands.push(signed)
      }
      return result
    },

    /**
     * Stores the results that hosts report for their commands, in the transaction of their reports, which has locked
     * the hosts. Returns the events to append. Locks commands, then jobs: call it after the counters of models.
     */
    acknowledge: async (
      tx: Tx,
      reports: readonly { agentId: string; acks: CheckInRequest['acks'] }[],
      eventBaseOf: (agentId: string) => EventOrigin,
    ): Promise<NewEvent[]> => {
      const acks = new Map<string, Ack>()
      // Commands are matched by agent as well, so that no host can report results for another host's command.
      for (const { agentId, acks: reported } of reports)
        for (const { commandId, outcome, message } of reported ?? [])
          if (isId(commandId) && !acks.has(`${agentId} ${commandId}`))
            acks.set(`${agentId} ${commandId}`, {
              agentId,
              commandId,
              confirmed: outcome === 'confirmed',
              message: cleanText(message, 500),
            })
      if (acks.size === 0) return []
      const now = new Date(clock.now())
      const ended = await store.acknowledge(tx, now, [...acks.values()])
      if (ended.length === 0) return []
      const configured = ended.filter((c) => c.kind === 'configure' && c.state === 'confirmed').map((c) => c.agent_id)
      if (configured.length > 0) await agents.configured(tx, now, configured)
      await settle(tx, [...new Set(ended.map((c) => c.agent_id))])
      await countFor(tx, ended)
      return ended
        .filter((c) => c.state === 'failed')
        .map((c) => ({
          ...eventBaseOf(c.agent_id),
          kind: 'commandFailed',
          details: c.message === '' ? c.title : `${c.title}: ${c.message}`,
        }))
    },

    /** Cancels the active commands of these agents. Returns the agents that exist. */
    cancel: async (tx: Tx, actor: Pick<Actor, 'userName'>, agentIds: readonly string[]): Promise<string[]> => {
      const now = new Date(clock.now())
      const known: string[] = []
      const ended: EndedCommand[] = []
      const withdrawn: string[] = []
      for (const some of slices([...agentIds].sort(), rowsPerStatement)) {
        const targets = (await agents.lockForCommands(tx, some)).map((target) => target.agent_id)
        if (targets.length === 0) continue
        known.push(...targets)
        ended.push(...(await store.end(tx, now, 'cancelled', `Cancelled by ${actor.userName}.`, { agentIds: targets })))
        withdrawn.push(...(await agents.withdrawModes(tx, targets, null)))
        await settle(tx, targets)
      }
      await countFor(tx, ended)
      const changed = new Set([...ended.map((c) => c.agent_id), ...withdrawn])
      if (changed.size > 0) await announce(tx, { agents: [...changed] })
      return known
    },

    /** Cancels the pending commands of agents that were just removed. */
    forgetAgents: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
      const now = new Date(clock.now())
      const ended: EndedCommand[] = []
      for (const some of slices([...agentIds].sort(), rowsPerStatement))
        ended.push(...(await store.end(tx, now, 'cancelled', 'The agent was removed.', { agentIds: some })))
      await countFor(tx, ended)
    },

    /** Cancels the active commands of a job in batches. Returns how many. */
    cancelJob: async (jobId: string, message: string): Promise<number> => {
      let cancelled = 0
      for (;;) {
        const agentIds = (await store.agentsOfJob(jobId, rowsPerStatement)).sort()
        if (agentIds.length === 0) return cancelled
        await db.transaction(async (tx) => {
          await agents.lockForCommands(tx, agentIds)
          const ended = await store.end(tx, new Date(clock.now()), 'cancelled', message, { agentIds, jobId })
          await settle(tx, agentIds)
          await countFor(tx, ended)
          await announce(tx, { agents: agentIds })
          cancelled += ended.length
        })
      }
    },

    /** Cancels the active orders to arm of these agents. Orders to free stay active. */
    cancelArming: async (agentIds: readonly string[], message: string): Promise<void> => {
      for (const some of slices([...agentIds].sort(), rowsPerStatement))
        await db.transaction(async (tx) => {
          await agents.lockForCommands(tx, some)
          const ended = await store.end(tx, new Date(clock.now()), 'cancelled', message, {
            agentIds: some,
            kind: 'configure',
            mode: 'Armed',
          })
          await settle(tx, [...some])
          await countFor(tx, ended)
          await announce(tx, { agents: [...some] })
        })
    },

    /** Expires overdue commands and creates an event for each; runs every ten seconds. */
    expire: async (): Promise<number> => {
      let expired = 0
      for (;;) {
        const now = new Date(clock.now())
        const agentIds = (await store.overdue(now, rowsPerStatement)).sort()
        if (agentIds.length === 0) return expired
        await db.transaction(async (tx) => {
          const targets = new Map(
            (await agents.lockForCommands(tx, agentIds)).map((target) => [target.agent_id, target]),
          )
          const ended = await store.end(tx, now, 'expired', 'The host did not complete the command in time.', {
            agentIds,
          })
          await settle(tx, [...targets.keys()])
          await countFor(tx, ended)
          await announce(tx, { agents: agentIds })
          await events.append(
            tx,
            ended.flatMap((c) => {
              const target = targets.get(c.agent_id)
              return target === undefined ? [] : [failureOf(target, `${c.title}: expired before the host completed it`)]
            }),
          )
          expired += ended.length
        })
      }
    },

    /** Deletes commands that ended 90 days ago. */
    forget: (): Promise<number> => store.forget(new Date(clock.now() - keptMs)),
  }
}
