import { AppError } from '@portcullis/platform/server/app-error.ts'
import { isConflict, isUnavailable } from '@portcullis/platform/server/db/db.ts'
import type { Beat, BeatState } from '#features/agents/server/index.ts'
import type { SignedText } from '#features/contract.ts'
import { createBatcher } from './batcher.ts'
import type { Outcome } from './collect-report.ts'
import type { IngestContext } from './context.ts'
import { type CheckIn, createReports } from './reports.ts'

const unavailable = () => new AppError('unavailable', {}, { headers: { 'retry-after': '5' } })

/**
 * Returns the outcome for a heartbeat that was not accepted. A repeated one is acknowledged again; others must open a
 * new session.
 */
const refusedBeat = async (context: IngestContext, beat: Beat, state: BeatState | undefined): Promise<Outcome> => {
  if (state === undefined) throw (await context.agents.revoked(beat.agentId)) ?? new AppError('agent_unknown')
  if (state.boot_id !== beat.bootId) throw new AppError('agent_session_superseded')
  return { hasCommands: state.has_commands }
}

/**
 * Adds the pending commands, in one query for the whole batch, or in none if no agent has any. The check-ins are
 * already stored: if the query fails, they are answered without commands, which follow in the next responses.
 */
const withCommands = async (
  { commands: { deliver }, log }: IngestContext,
  items: readonly { agentId: string }[],
  outcomes: (Outcome | AppError)[],
): Promise<(Outcome | AppError)[]> => {
  const has = (outcome: Outcome | AppError | undefined): outcome is Outcome =>
    outcome !== undefined && !(outcome instanceof AppError) && outcome.hasCommands === true
  const due = items.filter((_, i) => has(outcomes[i])).map((item) => item.agentId)
  if (due.length === 0) return outcomes
  const commands = await deliver(due).catch((error: unknown) => {
    log.warn({ err: error }, 'cannot read the pending commands')
    return new Map<string, SignedText[]>()
  })
  return outcomes.map((outcome, i) => {
    const waiting = has(outcome) ? commands.get(items[i]?.agentId ?? '') : undefined
    return waiting === undefined ? outcome : { ...outcome, commands: waiting }
  })
}

/**
 * Processes check-ins in batches: heartbeats without changes, hundreds in one statement, and reports, up to a hundred in
 * one transaction.
 */
export const createCheckIns = (context: IngestContext, counted: (checkIns: number) => void) => {
  const { apply } = createReports(context)
  const common = {
    key: (item: { agentId: string }) => item.agentId,
    now: () => performance.now(),
    maxWaitMs: context.maxWaitMs,
    overflow: unavailable,
    isConflict,
    isHopeless: isUnavailable,
  }

  /** One span per batch: a span for each check-in would cost more than the check-in. */
  const traced =
    <In, Out>(what: string, run: (items: In[]) => Promise<Out[]>) =>
    (items: In[]): Promise<Out[]> =>
      context.tracer.work(`check-in ${what}`, { 'portcullis.batch.size': items.length }, () => run(items))

  const beats = createBatcher<Beat, Outcome | AppError>({
    ...common,
    // 500 take 5 ms. More would hold row locks longer without more throughput.
    size: 500,
    delayMs: 5,
    concurrency: 2,
    capacity: 50_000,
    run: traced('beats', async (items) => {
      const sorted = [...items].sort((a, b) => (a.agentId < b.agentId ? -1 : 1))
      const taken = new Map(
        (await context.agents.takeHeartbeats(new Date(context.clock.now()), sorted)).map((row) => [row.agent_id, row]),
      )
      const away = [...taken.values()].filter((row) => !row.connected).map((row) => row.agent_id)
      if (away.length > 0) await context.agents.setConnected(away.sort())
      const missed = items.filter((item) => !taken.has(item.agentId))
      const states = missed.length === 0 ? [] : await context.agents.heartbeatStates(missed.map((item) => item.agentId))
      counted(taken.size)
      const outcomes = await Promise.all(
        items.map((item) => {
          const row = taken.get(item.agentId)
          if (row !== undefined)
            return {
              needInventory: row.need_inventory,
              needFacts: row.need_facts,
              needPolicy: row.need_policy,
              hasCommands: row.has_commands,
            }
          return refusedBeat(
            context,
            item,
            states.find((state) => state.agent_id === item.agentId),
          ).catch((error: AppError) => error)
        }),
      )
      return withCommands(context, items, outcomes)
    }),
  })

  const reports = createBatcher<CheckIn, Outcome | AppError>({
    ...common,
    // 100 inventories of some ten devices: 1,000 rows in one statement.
    size: 100,
    delayMs: 10,
    concurrency: 2,
    capacity: 10_000,
    run: traced('reports', async (items) => {
      const outcomes = await apply(items)
      counted(outcomes.filter((outcome) => !(outcome instanceof AppError)).length)
      return withCommands(context, items, outcomes)
    }),
  })

  async function settled(outcome: Promise<Outcome | AppError>): Promise<Outcome> {
    const result = await outcome
    if (result instanceof AppError) throw result
    return result
  }

  return {
    beat: (beat: Beat) => settled(beats.add(beat)),
    report: (checkIn: CheckIn) => settled(reports.add(checkIn)),
    depth: () => beats.depth() + reports.depth(),
    drain: () => Promise.all([beats.drain(), reports.drain()]),
  }
}

export type CheckIns = ReturnType<typeof createCheckIns>
