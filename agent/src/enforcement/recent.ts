import type { PolicyDecision, PolicyDevice } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import type { JudgedDevice } from './judge.ts'
import type { RecentDevice } from './memory.ts'

/** Resume from suspend and a dock take seconds, a firmware update with its restarts up to minutes. */
const RECENT_MS = 5 * 60_000
/** The bus holds 127 devices; the rest is room for what was pulled. */
const MAX_RECENT = 512

export interface RecentDeps {
  clock: Clock
  /** From the last run of the agent. */
  known: readonly RecentDevice[]
  decide: (device: PolicyDevice, now: number) => PolicyDecision
}

/**
 * Devices that worked a moment ago. One that comes back at the same port, the same but for its firmware, goes on, as long
 * as the policy still allows what it was: a grant that ended or a rule that was withdrawn is no moment ago.
 */
export const createRecent = ({ clock, known, decide }: RecentDeps) => {
  const entries = new Map(known.map((entry) => [entry.key, entry]))
  let attached: ReadonlySet<string> = new Set()

  return {
    covers({ key, instance }: JudgedDevice): boolean {
      const entry = entries.get(key)
      if (entry === undefined) return false
      const now = clock.now()
      const isSameAttachment = instance !== '' && entry.instance === instance
      if (!isSameAttachment && Math.abs(now - entry.at) > RECENT_MS) return false
      return decide(entry.device, now).effect === 'allow'
    },
    /** A device works; `isAllowed` by a rule, else by this very memory, which then keeps the identity that was allowed. */
    note({ key, instance, device }: JudgedDevice, isAllowed: boolean): void {
      const entry = entries.get(key)
      if (!isAllowed && entry === undefined) return
      entries.set(key, { key, instance, device: isAllowed ? device : (entry?.device ?? device), at: clock.now() })
    },
    /** Tells what works now, after a full look: what is gone since was seen working until now. */
    settle(keys: ReadonlySet<string>): void {
      const now = clock.now()
      for (const key of attached) {
        const entry = entries.get(key)
        if (entry !== undefined && !keys.has(key)) entries.set(key, { ...entry, instance: '', at: now })
      }
      attached = keys
      for (const [key, entry] of entries)
        if (!keys.has(key) && Math.abs(now - entry.at) > RECENT_MS) entries.delete(key)
      for (const key of [...entries.keys()].slice(0, Math.max(0, entries.size - MAX_RECENT))) entries.delete(key)
    },
    clear: (): void => entries.clear(),
    list: (): RecentDevice[] => [...entries.values()],
  }
}
export type Recent = ReturnType<typeof createRecent>
