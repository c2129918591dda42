import type { EventEmitter } from 'node:events'
import { AppError } from '../app-error.ts'

export interface TurnsOptions {
  /** Tasks that run at once: in total, and per account if accounts differ. */
  atOnce: number
  perAccount?: number
  /** Waiting callers per account. The next one is refused. */
  waiting: number
  /** Longest wait, in milliseconds. */
  waitMs: number
  /** Seconds after which a refused caller may ask again; spread so that callers do not return together. */
  retryAfter: number
  spread?: number
}

/**
 * Limits concurrent work. Callers of an account continue in the order of their arrival, and accounts take turns, so one
 * account cannot keep the others waiting.
 */
export const createTurns = (options: TurnsOptions) => {
  const {
    atOnce,
    perAccount = Number.POSITIVE_INFINITY,
    waiting: mostWaiting,
    waitMs,
    retryAfter,
    spread = 0,
  } = options
  /** Waiting callers by account; the next account comes first. */
  const waiting = new Map<string, Set<() => void>>()
  const running = new Map<string, number>()
  let total = 0

  const runningOf = (account: string): number => running.get(account) ?? 0
  const hasPlace = (account: string): boolean => total < atOnce && runningOf(account) < perAccount

  function refusal(account: string): AppError {
    const seconds = retryAfter + Math.floor(Math.random() * spread)
    // Distinguishes an account over its share from a busy server.
    const code = runningOf(account) >= perAccount ? 'too_many_requests' : 'unavailable'
    return new AppError(code, { seconds }, { headers: { 'retry-after': String(seconds) } })
  }

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

  const wait = (account: string, connection: EventEmitter | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const callers = waiting.get(account) ?? new Set()
      function end(settle: () => void): void {
        clearTimeout(timer)
        connection?.off('close', giveUp)
        settle()
      }
      const go = (): void => end(resolve)
      function giveUp(): void {
        callers.delete(go)
        if (callers.size === 0 && waiting.get(account) === callers) waiting.delete(account)
        end(() => reject(refusal(account)))
      }
      const timer = setTimeout(giveUp, waitMs).unref()
      connection?.once('close', giveUp)
      callers.add(go)
      waiting.set(account, callers)
    })

  /**
   * Waits for the account's turn while the connection is open. Returns the function that ends the turn.
   *
   * @throws AppError `too_many_requests` if too many callers of the account wait, or if none of them finished in time;
   * `unavailable` if other accounts took all turns
   */
  async function enter(account = '', connection?: EventEmitter): Promise<() => void> {
    if (hasPlace(account)) start(account)
    else if ((waiting.get(account)?.size ?? 0) >= mostWaiting) throw refusal(account)
    else await wait(account, connection)
    return leaver(account)
  }

  return {
    enter,
    /** Runs `work` in its turn. All its callers share one account. */
    run: async <T>(work: () => Promise<T>): Promise<T> => {
      const leave = await enter()
      return work().finally(leave)
    },
  }
}
