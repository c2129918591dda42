import { inventoryHash, mustExist, type Occurrence } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import { dictionaryTexts } from '#features/agents/server/index.ts'
import type { CheckInRequest, DeviceReport } from '#features/contract.ts'
import type { EvaluatedDevice, StoredPeripheral } from '#features/devices/server/index.ts'
import { assessHosts, fingerprintIdsOf, hostOf } from '#features/policy/server/index.ts'
import {
  type CollectedReport,
  collectReport,
  type Evaluated,
  isArmed,
  type Outcome,
  refusalOf,
} from './collect-report.ts'
import type { IngestContext } from './context.ts'
import { createWriteReports } from './write-reports.ts'

/** An authenticated check-in with a valid shape. */
export interface CheckIn {
  agentId: string
  request: CheckInRequest
  /** How long it waited on its host, in milliseconds. Undefined: not stated. */
  ageMs?: number | undefined
  /** Address that it came from. Undefined: a host without an agent. */
  address?: string
  /** When the devices of the inventory were attached, by port path. Only for hosts without an agent. */
  attachedAt?: ReadonlyMap<string, Occurrence>
}

type Outcomes = Map<string, Outcome | AppError>

/** Returns the devices of a report: those of its changes, then those of its inventory. */
const reportsOf = (request: CheckInRequest): DeviceReport[] => [
  ...(request.changes ?? []).flatMap((c) => ('device' in c ? [c.device] : [])),
  ...(request.inventory ?? []),
]

/**
 * Applies check-ins with changes: at most one per agent in a batch, all or nothing, answered after COMMIT. It collects the
 * reports, assesses the hosts that changed, and writes.
 */
export const createReports = (context: IngestContext) => {
  const { db, clock, agents, peripherals, policy } = context
  const write = createWriteReports(context)
  const { fingerprints } = peripherals

  /** Evaluates all devices of a batch before its transaction. */
  async function evaluateBatch(items: readonly CheckIn[], now: Date): Promise<Evaluated[]> {
    const evaluated = await fingerprints.evaluateAll(
      items.flatMap(({ request }) => reportsOf(request)),
      now,
    )
    const rest = evaluated.values()
    const next = (): EvaluatedDevice => mustExist(rest.next().value, 'the verdict on a report')
    return items.map(({ request }) => ({
      changes: (request.changes ?? []).map((c) =>
        'device' in c ? { op: c.op, device: next() } : { op: c.op, portPath: c.portPath },
      ),
      inventory: request.inventory === undefined ? null : request.inventory.map(() => next()),
    }))
  }

  function assertConsistent(request: CheckInRequest): void {
    // The bytes are hashed again as text, so the hashes of any other encoding would never match.
    for (const { descriptors } of reportsOf(request))
      if (Buffer.from(descriptors, 'base64').toString('base64') !== descriptors)
        throw new AppError('agent_report_invalid', { detail: 'Descriptors are not canonical base64.' })
    const ports = (request.inventory ?? []).map((device) => device.portPath)
    if (new Set(ports).size !== ports.length)
      throw new AppError('agent_report_invalid', { detail: 'body.inventory contains a port twice.' })
    if (request.inventory !== undefined && inventoryHash(request.inventory) !== request.inventoryHash)
      throw new AppError('agent_report_invalid', { detail: 'body.inventoryHash is not the hash of body.inventory.' })
  }

  /** Records a refusal for check-ins that contradict themselves, and returns the others. */
  const consistentOf = (items: readonly CheckIn[], outcomes: Outcomes): CheckIn[] =>
    items.filter(({ agentId, request }) => {
      try {
        assertConsistent(request)
        return true
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        outcomes.set(agentId, error)
        return false
      }
    })

  async function dictionaryOf(items: readonly CheckIn[]): Promise<Map<string, number>> {
    const texts = items.flatMap(({ request }) =>
      request.facts === undefined ? [] : Object.values(dictionaryTexts(request.facts)),
    )
    return texts.length === 0 ? new Map() : agents.dictionaryIds(texts)
  }

  /** Locks the hosts of a batch, and reads their stored state and their policies in the mode that they report. */
  async function readHosts(tx: Tx, items: readonly CheckIn[]) {
    const ids = items.map((item) => item.agentId).sort()
    const states = new Map((await agents.lockStates(tx, ids)).map((state) => [state.agent_id, state]))
    const requests = new Map(items.map(({ agentId, request }) => [agentId, request]))
    const policies = await policy.open(
      tx,
      [...states.values()].map((state) => ({ ...state, armed: isArmed(state, requests.get(state.agent_id)) })),
    )
    const rows = await peripherals.storedOf(tx, ids)
    const known = await fingerprints.byIds(fingerprintIdsOf(rows))
    const rowsOf = Map.groupBy(rows, (row: StoredPeripheral) => row.agent_id)
    return { states, policies, storedOf: (agentId: string) => hostOf(rowsOf.get(agentId) ?? [], known) }
  }

  async function apply(items: readonly CheckIn[]): Promise<(Outcome | AppError)[]> {
    const now = new Date(clock.now())
    const outcomes: Outcomes = new Map()
    const sound = consistentOf(items, outcomes)
    const evaluated = await evaluateBatch(sound, now)
    const dictionary = await dictionaryOf(sound)

    await db.transaction(async (tx) => {
      const hosts = await readHosts(tx, sound)
      const collected: CollectedReport[] = []
      const yieldNow = createYielder(10)
      for (const [i, { agentId, request, ageMs, address, attachedAt }] of sound.entries()) {
        await yieldNow()
        const state = hosts.states.get(agentId)
        const refused = refusalOf(state, request)
        if (refused !== null) outcomes.set(agentId, refused)
        else if (state !== undefined)
          collected.push(
            collectReport(
              state,
              { request, ageMs, address, receivedAt: now.getTime(), attachedAt },
              mustExist(evaluated[i], 'the verdicts on a check-in'),
              hosts.storedOf(agentId),
              dictionary,
            ),
          )
      }
      const assessed = await assessHosts(
        collected.filter((one) => one.isMoved),
        hosts.policies,
        now.getTime(),
      )
      await write(tx, now, collected, new Map(assessed.map((one) => [one.agentId, one])))
      for (const one of collected) outcomes.set(one.agentId, one.outcome)
    })
    for (const [agentId, outcome] of outcomes)
      if (outcome instanceof AppError && outcome.code === 'agent_unknown')
        outcomes.set(agentId, (await agents.revoked(agentId)) ?? outcome)
    return items.map((item) => mustExist(outcomes.get(item.agentId), 'the outcome of a check-in'))
  }

  return { apply }
}
