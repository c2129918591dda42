import type { PolicyDecision, PolicyDevice } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import type { IdentifiedDevice } from './evaluator.ts'
import type { RecentDevice } from './memory.ts'

/** A resume or a dock takes seconds; a firmware update with restarts takes minutes. */
const RECENT_MS = 5 * 60_000
/** A bus has up to 127 devices; the rest is for removed devices. */
const MAX_RECENT = 512

export interface RecentDeps {
  clock: Clock
  /** Devices of the last run of the agent. */
  known: readonly RecentDevice[]
  decide: (device: PolicyDevice, now: number) => PolicyDecision
}

/**
 * Remembers devices that worked recently. A device that returns to the same port with only its firmware changed keeps
 * working, as long as the policy still allows its previous identity.
 */
export const createRecent = ({ clock, known, decide }: RecentDeps) => {
  const entries = new Map(known.map((entry) => [entry.key, entry]))
  let attached: ReadonlySet<string> = new Set()

  return {
    covers({ key, instance }: IdentifiedDevice): boolean {
      const entry = entries.get(key)
      if (entry === undefined) return false
      const now = clock.now()
      const isSameAttachment = instance !== '' && entry.instance === instance
      if (!isSameAttachment && Math.abs(now - entry.at) > RECENT_MS) return false
      return decide(entry.device, now).effect === 'allow'
    },
    /** Records a working device. Without `isAllowed`, no rule allowed it, so its previously allowed identity is kept. */
    note({ key, instance, device }: IdentifiedDevice, isAllowed: boolean): void {
      const kept = isAllowed ? device : entries.get(key)?.device
      if (kept !== undefined) entries.set(key, { key, instance, device: kept, at: clock.now() })
    },
    /** Records the keys of all working devices after a full pass. */
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
