import type { ServerResponse } from 'node:http'
import type { HeavyWork } from '../../contract/operation.ts'
import { createTurns } from '../limiters/turns.ts'
import type { Actor } from './actor.ts'

const [waitMs, retryAfter] = [20_000, 5]

/** Rows from which a list page uses the export pool and counts as an export. */
export const largePage = 2_000

/**
 * Returns the kind of heavy work of a request whose operation is not always heavy. A dry run costs as much as a preview,
 * whatever it is a dry run of.
 */
export const heavyKindOf = (query: unknown, body: unknown): Turn | undefined => {
  const { PageSize = 0, Query, query: lower = Query } = query as { PageSize?: number; Query?: string; query?: string }
  if ([query, body].some((given) => (given as { dryRun?: unknown } | null)?.dryRun === true)) return 'preview'
  if (PageSize > largePage) return 'export'
  return lower === undefined ? undefined : 'query'
}

/** Heavy work, or a list with a condition that a person composed, which can keep two connections for the time of a statement. */
type Turn = HeavyWork | 'query'

/** Limits heavy work. All shares together leave two connections of the export pool to other long reads. */
export const createHeavyWork = () => {
  const queues = {
    preview: createTurns({ atOnce: 2, perAccount: 1, waiting: 4, waitMs, retryAfter }),
    export: createTurns({ atOnce: 4, perAccount: 2, waiting: 20, waitMs, retryAfter }),
    query: createTurns({ atOnce: 4, perAccount: 2, waiting: 20, waitMs, retryAfter }),
  } satisfies Record<Turn, unknown>

  /** Runs `work` in the account's turn, which lasts until the response was sent or its reader left. */
  return async <T>(kind: Turn, actor: Actor, response: ServerResponse, work: () => Promise<T>): Promise<T> => {
    const leave = await queues[kind].enter(actor.accountId ?? actor.userName, response)
    try {
      const answer = await work()
      if (response.destroyed || response.writableFinished) leave()
      else response.once('finish', leave).once('close', leave)
      return answer
    } catch (error) {
      leave()
      throw error
    }
  }
}
