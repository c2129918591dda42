import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'

/** Requests of one agent on their way at once: it sends one, and repeats one that it gave up waiting for. */
const atOnce = 8
/** Bytes of all bodies that are held: what a report becomes takes some four times as much. */
const heldBytes = 128 * 1024 * 1024
/** What one agent may report at once: four inventories of the largest size. */
const burst = 16 * 1024 * 1024
/** What it may report for ever, per second: 30 times a host whose devices come and go each second. */
const perSecond = 32 * 1024
/** What a change counts beside its bytes: it becomes rows and events. */
const perChange = 1024

export const tooMany = (seconds: number): AppError =>
  new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })

interface Account {
  level: number
  at: number
}

export type Shares = ReturnType<typeof createShares>

/**
 * Each agent's share of the server: a rogue one may fill its own, never the memory, the queue or the database of all.
 * Check-ins that report nothing are bounded by their number at once only.
 */
export const createShares = (clock: Clock) => {
  const running = new Map<string, number>()
  const accounts = new Map<string, Account>()
  let held = 0
  let tidyAt = 10_000

  const levelOf = (account: Account | undefined, now: number): number =>
    account === undefined ? burst : Math.min(burst, account.level + ((now - account.at) / 1000) * perSecond)

  /** Forgets agents that have their whole share again. */
  const tidy = (now: number): void => {
    for (const [agentId, account] of accounts) if (levelOf(account, now) >= burst) accounts.delete(agentId)
    tidyAt = Math.max(10_000, accounts.size * 2)
  }

  return {
    /** Admits a request; call `leave` when it is answered. */
    enter: (agentId: string): void => {
      const now = running.get(agentId) ?? 0
      if (now >= atOnce) throw tooMany(5)
      running.set(agentId, now + 1)
    },

    leave: (agentId: string, bytes: number): void => {
      held -= bytes
      const now = (running.get(agentId) ?? 1) - 1
      if (now === 0) running.delete(agentId)
      else running.set(agentId, now)
    },

    /** Counts bytes of a body as they come. */
    hold: (bytes: number): void => {
      held += bytes
      if (held > heldBytes) throw new AppError('unavailable', {}, { headers: { 'retry-after': '5' } })
    },

    /** Charges a report; what comes while an agent is in debt is refused. */
    charge: (agentId: string, bytes: number, changes: number): void => {
      const now = clock.now()
      const level = levelOf(accounts.get(agentId), now)
      if (level <= 0) throw tooMany(Math.ceil(1 - level / perSecond))
      accounts.set(agentId, { level: level - bytes - changes * perChange, at: now })
      if (accounts.size >= tidyAt) tidy(now)
    },
  }
}
