import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'

/** Requests of one agent on their way at once: it sends one, and repeats one that it gave up waiting for. */
const atOnce = 8
/** Bytes of all bodies that are held: what a report becomes takes some four times as much. */
const heldBytes = 128 * 1024 * 1024
/** What one agent may report at once: four inventories of the largest size. */
const agentBurst = 16 * 1024 * 1024
/** Bytes of a check-in that reports nothing: it is served to an agent that is in debt. */
export const beatBytes = 1024
/** Requests of one agent at once, and those it gets back each second; it sends one in some seconds. */
const requests = { most: 1_000, perSecond: 20 } as const
/** What it may report for ever, per second: 30 times a host whose devices come and go each second. */
const agentPerSecond = 32 * 1024
/** What a change counts beside its bytes: it becomes rows and events. */
const perChange = 1024

export const tooMany = (seconds: number): AppError =>
  new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })

interface Account {
  level: number
  at: number
}

export interface SharesOptions {
  /** Bytes at once. */
  burst: number
  /** Bytes per second. */
  perSecond: number
}

/** What one process of the agentless worker may send: 32 bodies of the largest size, then two a second. */
export const workerQuota: SharesOptions = { burst: 256 * 1024 * 1024, perSecond: 16 * 1024 * 1024 }

export type Quota = ReturnType<typeof createQuota>

/**
 * Each agent's share of the server: a rogue one may fill its own, never the memory, the queue or the database of all.
 * Check-ins that report nothing are bounded by their number at once only.
 */
export const createQuota = (
  clock: Pick<Clock, 'now'>,
  { burst, perSecond }: SharesOptions = { burst: agentBurst, perSecond: agentPerSecond },
) => {
  const running = new Map<string, number>()
  const accounts = new Map<string, Account>()
  const asked = new Map<string, Account>()
  let held = 0
  let tidyAt = 10_000

  const levelOf = (account: Account | undefined, now: number, most = burst, rate = perSecond): number =>
    account === undefined ? most : Math.min(most, account.level + ((now - account.at) / 1000) * rate)

  /** Forgets agents that have their whole share again. */
  function tidy(now: number): void {
    for (const [agentId, account] of accounts) if (levelOf(account, now) >= burst) accounts.delete(agentId)
    for (const [agentId, account] of asked)
      if (levelOf(account, now, requests.most, requests.perSecond) >= requests.most) asked.delete(agentId)
    tidyAt = Math.max(10_000, accounts.size * 2, asked.size * 2)
  }

  /** Throws while an agent is in debt; before its body is read. */
  function assertCredit(agentId: string): void {
    const level = levelOf(accounts.get(agentId), clock.now())
    if (level <= 0) throw tooMany(Math.ceil(1 - level / perSecond))
  }

  function owe(agentId: string, bytes: number): void {
    const now = clock.now()
    accounts.set(agentId, { level: levelOf(accounts.get(agentId), now) - bytes, at: now })
    if (accounts.size >= tidyAt) tidy(now)
  }

  return {
    /** Admits a request before its body, of which `bytes` are announced; call `leave` when it is answered. */
    enter: (agentId: string, bytes = 0): void => {
      const now = clock.now()
      const left = levelOf(asked.get(agentId), now, requests.most, requests.perSecond) - 1
      if (left < 0) throw tooMany(Math.ceil(-left / requests.perSecond))
      if (bytes > beatBytes) assertCredit(agentId)
      const count = running.get(agentId) ?? 0
      if (count >= atOnce) throw tooMany(5)
      running.set(agentId, count + 1)
      asked.set(agentId, { level: left, at: now })
      if (asked.size >= tidyAt) tidy(now)
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
      assertCredit(agentId)
      owe(agentId, bytes + changes * perChange)
    },

    /** Charges the changes of a report whose bytes were charged before it was parsed. */
    oweChanges: (agentId: string, changes: number): void => owe(agentId, changes * perChange),
  }
}
