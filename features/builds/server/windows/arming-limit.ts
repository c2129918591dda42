import { refuseArming, type WindowsArmingState, type WindowsRefusal } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { lock, locks } from '@portcullis/platform/server/db/locks.ts'
import type { SqlFragment } from '@portcullis/platform/server/db/sql.ts'
import type { BuildsContext } from '../context.ts'
import type { Verifications } from './verifications.ts'
import { createWindowsStore } from './windows.store.ts'

/** Name of the setting "Windows enforcement (preview)". */
export const windowsSetting = 'VENDORA_WINDOWS_ENFORCEMENT'

const none: ReadonlyMap<string, WindowsRefusal> = new Map()

/** Decides which Windows hosts may be armed. `refusedAgents` checks every order to arm; `refused` is for previews. */
export const createWindowsGate = ({ clock, settings }: BuildsContext, verifications: Verifications) => {
  const store = createWindowsStore()
  async function state(q: Queryable, now: Date): Promise<WindowsArmingState> {
    const [values, verified, counts] = [
      await settings.values(q, 'vendorA'),
      await verifications.builds(q),
      await store.counts(q, now),
    ]
    return {
      isEnabled: values.flag(windowsSetting),
      verified,
      counted: new Map(counts.map(({ build, counted }) => [build, counted])),
    }
  }

  async function refused(
    q: Queryable,
    where: SqlFragment,
    order: SqlFragment | null = null,
  ): Promise<ReadonlyMap<string, WindowsRefusal>> {
    const now = new Date(clock.now())
    const candidates = await store.candidates(q, now, where, order)
    return candidates.length === 0 ? none : refuseArming(await state(q, now), candidates)
  }

  return {
    state,

    /**
     * Returns the hosts that must not be armed now, by id. `where` is a condition over `agent_rows r` joined with
     * `agents a`. If the limit is not reached, the first hosts in `order` are allowed.
     */
    refused,

    /**
     * Decides about orders to arm in their transaction. A lock serialises the orders of all replicas, so none exceeds
     * the limit.
     */
    refusedAgents: async (tx: Tx, agentIds: readonly string[]): Promise<ReadonlyMap<string, WindowsRefusal>> => {
      const where = store.named(agentIds)
      if (!(await store.hasWindows(tx, where))) return none
      await lock(tx, locks.windowsArming)
      return refused(tx, where)
    },
  }
}
