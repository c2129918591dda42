import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'

/** Maximum number of concurrent requests per agent. An agent sends one, and repeats it if it times out. */
const atOnce = 8
/** Maximum size of all bodies in memory. A report needs some four times its size. */
const heldBytes = 128 * 1024 * 1024
/** Maximum burst of reports per agent: four inventories of the largest size. */
const agentBurst = 16 * 1024 * 1024
/** Size of a check-in without changes. The server accepts it even from an agent over its quota. */
export const beatBytes = 1024
/** Burst of requests of one agent, and the refill per second. An agent sends one every few seconds. */
const requests = { most: 1_000, perSecond: 20 } as const
/**
 * Sustained report rate per agent, in bytes per second: 30 times that of a host with devices that change every second.
 */
const agentPerSecond = 32 * 1024
/** Charge for a change in addition to its bytes, because it becomes rows and events. */
const perChange = 1024

export const tooMany = (seconds: number): AppError =>
  new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })

interface Account {
  level: number
  at: number
}

export interface QuotaOptions {
  /** Maximum burst in bytes. */
  burst: number
  perSecond: number
}

/** Quota of one worker process: 32 bodies of the largest size, then two per second. */
export const workerQuota: QuotaOptions = { burst: 256 * 1024 * 1024, perSecond: 16 * 1024 * 1024 }

/**
 * Creates the quota of each agent. A rogue agent can use up its own quota, but not the memory, the queue or the
 * database of others. For check-ins without changes, only the number of concurrent requests is limited.
 */
export const createQuota = (
  clock: Clock,
  { burst, perSecond }: QuotaOptions = { burst: agentBurst, perSecond: agentPerSecond },
) => {
  const running = new Map<string, number>()
  const accounts = new Map<string, Account>()
  const asked = new Map<string, Account>()
  let held = 0
  let tidyAt = 10_000

  const levelOf = (account: Account | undefined, now: number, most = burst, rate = perSecond): number =>
    account === undefined ? most : Math.min(most, account.level + ((now - account.at) / 1000) * rate)

  /** Deletes agents whose quota is full again. */
  function tidy(now: number): void {
    for (const [agentId, account] of accounts) if (levelOf(account, now) >= burst) accounts.delete(agentId)
    for (const [agentId, account] of asked)
      if (levelOf(account, now, requests.most, requests.perSecond) >= requests.most) asked.delete(agentId)
    tidyAt = Math.max(10_000, accounts.size * 2, asked.size * 2)
  }

  /** Throws while an agent is over its quota, before its body is read. */
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
    /** Admits a request before its body of the announced `bytes`. Call `leave` after the response. */
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

    /** Counts the bytes of a body as they arrive. */
    hold: (bytes: number): void => {
      held += bytes
      if (held > heldBytes) throw new AppError('unavailable', {}, { headers: { 'retry-after': '5' } })
    },

    /** Charges a report. Further reports are refused while the agent is over its quota. */
    charge: (agentId: string, bytes: number, changes: number): void => {
      assertCredit(agentId)
      owe(agentId, bytes + changes * perChange)
    },

    /** Charges the changes of a report whose bytes were charged before parsing. */
    oweChanges: (agentId: string, changes: number): void => owe(agentId, changes * perChange),
  }
}
