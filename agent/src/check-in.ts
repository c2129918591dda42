import { isDeepStrictEqual } from 'node:util'
import type { CheckInRequest, DeviceReport, EnforcementState, HostFacts } from '@portcullis/contract/agent-protocol.ts'
import { factsHash, inventoryHash } from '@portcullis/domain'
import type { Clock } from './clock.ts'
import type { Commands } from './commands.ts'
import type { Boot } from './platform/platform.ts'
import type { Reports } from './reports.ts'
import type { Spool } from './spool.ts'

/** A check-in with its final body. The agent repeats it byte for byte until the server acknowledges it. */
export interface FormedCheckIn {
  seq: number
  body: string
  /** Number of its last change; undefined without changes. */
  upTo: number | undefined
  factsHash: string | undefined
  /** State of enforcement in the body; undefined if the body has none. */
  enforcement: EnforcementState | undefined
  /** Returns how long ago the check-in was formed, in milliseconds. */
  ageMs(): number
}

/** State that the server has acknowledged since this start. */
export interface ServerView {
  bootId: string
  /** Number of the next check-in. */
  seq: number
  needInventory: boolean
  needFacts: boolean
  factsHash: string | undefined
  enforcement: EnforcementState | undefined
}

export interface CheckInDeps {
  clock: Clock
  boot: Boot
  devices: () => DeviceReport[]
  facts: () => HostFacts
  enforcement: () => EnforcementState
  spool: Spool
  commands: Commands
  reports: Reports
  /** Minimum time between two collections of facts, which read forty small files. */
  factsEveryMs: number
}

/** Creates check-in bodies with only what the server does not know yet. */
export const createCheckIns = ({
  clock,
  boot,
  devices,
  facts,
  enforcement,
  spool,
  commands,
  reports,
  factsEveryMs,
}: CheckInDeps) => {
  let current: { facts: HostFacts; hash: string; at: number } | undefined
  let known: { reports: DeviceReport[]; hash: string } | undefined

  function factsNow(isWanted: boolean): { facts: HostFacts; hash: string } {
    if (current === undefined || isWanted || clock.monotonic() - current.at >= factsEveryMs) {
      const collected = facts()
      current = { facts: collected, hash: factsHash(collected), at: clock.monotonic() }
    }
    return current
  }

  function hashOf(list: DeviceReport[]): string {
    const isSame = known?.reports.length === list.length && list.every((report, i) => report === known?.reports[i])
    if (known === undefined || !isSame) known = { reports: list, hash: inventoryHash(list) }
    return known.hash
  }

  return {
    form(view: ServerView): FormedCheckIn {
      const list = devices()
      const wallClock = clock.now()
      const formedAt = boot.elapsed()
      const { changes, upTo } = spool.pending(wallClock)
      const now = factsNow(view.needFacts || view.needInventory)
      const hasFacts = view.needFacts || view.needInventory || now.hash !== view.factsHash
      const acks = commands.takeAcks()
      const errors = reports.take()
      const state = enforcement()
      const statusChanged = !isDeepStrictEqual(state, view.enforcement)
      const request: CheckInRequest = {
        bootId: view.bootId,
        seq: view.seq,
        inventoryHash: hashOf(list),
        clock: wallClock,
        ...(hasFacts ? { factsHash: now.hash, facts: now.facts } : {}),
        ...(changes.length > 0 ? { changes } : {}),
        ...(view.needInventory ? { inventory: list } : {}),
        ...(acks.length > 0 ? { acks } : {}),
        ...(statusChanged ? { enforcement: state } : {}),
        ...(errors.length > 0 ? { errors } : {}),
      }
      const hasChanges = changes.length > 0
      if (hasChanges) spool.markFlight({ bootId: view.bootId, seq: view.seq, upTo })
      return {
        seq: view.seq,
        body: JSON.stringify(request),
        upTo: hasChanges ? upTo : undefined,
        factsHash: hasFacts ? now.hash : undefined,
        enforcement: statusChanged ? state : undefined,
        ageMs: () => boot.elapsed() - formedAt,
      }
    },
  }
}
