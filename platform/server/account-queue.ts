import type { EventEmitter } from 'node:events'
import { AppError } from './app-error.ts'

export interface AccountQueueOptions {
  /** Tasks that run at once: in total, and per account. */
  atOnce: number
  perAccount: number
  /** Waiting callers per account. The next one is refused. */
  waitingPerAccount: number
  /** Longest wait, in milliseconds. */
  waitMs: number
  /** Seconds after which a refused caller may ask again. */
  retryAfter: number
}

/** Limits concurrent work. Accounts take turns, so one account cannot keep the others waiting. */
export const createAccountQueue = (options: AccountQueueOptions) => {
  const { atOnce, perAccount, waitingPerAccount, waitMs, retryAfter } = options
  /** Waiting callers by account; the next account comes first. */
  const waiting = new Map<string, Set<() => void>>()
  const running = new Map<string, number>()
  let total = 0

  const runningOf = (account: string): number => running.get(account) ?? 0
  const hasPlace = (account: string): boolean => total < atOnce && runningOf(account) < perAccount

  const refusal = (account: string): AppError =>
    new AppError(
      // Distinguishes an account over its share from a busy server.
      runningOf(account) >= perAccount ? 'too_many_requests' : 'unavailable',
      { seconds: retryAfter },
      { headers: { 'retry-after': String(retryAfter) } },
    )

  function start(account: string): void {
    total++
    running.set(account, runningOf(account) + 1)
  }

  function dispatch(): void {
    for (const [account, callers] of waiting) {
      if (!hasPlace(account)) continue
      const [go] = callers
      if (go === undefined) continue
      // The account moves behind the others.
      waiting.delete(account)
      callers.delete(go)
      if (callers.size > 0) waiting.set(account, callers)
      start(account)
      go()
    }
  }

  function leaver(account: string): () => void {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      total--
      const left = runningOf(account) - 1
      if (left === 0) running.delete(account)
      else running.set(account, left)
      dispatch()
    }
  }

  const wait = (account: string, connection: EventEmitter): Promise<void> =>
    new Promise((resolve, reject) => {
      const callers = waiting.get(account) ?? new Set()
      function end(settle: () => void): void {
        clearTimeout(timer)
        connection.off('close', giveUp)
        settle()
      }
      const go = (): void => end(resolve)
      function giveUp(): void {
        callers.delete(go)
        if (callers.size === 0 && waiting.get(account) === callers) waiting.delete(account)
        end(() => reject(refusal(account)))
      }
      const timer = setTimeout(giveUp, waitMs).unref()
      connection.once('close', giveUp)
      callers.add(go)
      waiting.set(account, callers)
    })

  return {
    /**
     * Waits for the account's turn while the connection is open. Returns the function that ends the turn.
     *
     * @throws AppError `too_many_requests` if too many callers of the account wait, or if none of them finished in time;
     * `unavailable` if other accounts took all turns
     */
    enter: async (account: string, connection: EventEmitter): Promise<() => void> => {
      if (hasPlace(account)) start(account)
      else if ((waiting.get(account)?.size ?? 0) >= waitingPerAccount) throw refusal(account)
      else await wait(account, connection)
      return leaver(account)
    },
  }
}
