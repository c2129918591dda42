import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { eventOrigin, type NewEvent } from '#features/events/server/index.ts'
import { type Assessment, type AttachmentCount, type HostPeripheral, rowOf } from '#features/policy/server/index.ts'
import type { HostChange } from './apply-report.ts'
import type { CollectedReport } from './collect-report.ts'
import type { IngestContext } from './context.ts'
import { createCounterMoves } from './counter-moves.ts'
import { eventsOf } from './report-events.ts'

/** Returns the attachments of a report, each device once for every day on which it was attached. */
const attachmentsOf = (agentId: string, changes: readonly HostChange[], now: Date) => {
  const counts = new Map<string, AttachmentCount>()
  function add({ deviceId, authorized }: HostPeripheral, at: number | undefined, n: number): void {
    const day = new Date(at ?? now).toISOString().slice(0, 10)
    const key = `${day} ${deviceId}`
    const count = counts.get(key) ?? { agentId, deviceId, day, n: 0, blocked: 0 }
    count.n += n
    if (!authorized) count.blocked += n
    counts.set(key, count)
  }
  for (const { what, peripheral, occurred, repeated } of changes) {
    if (what !== 'attached') continue
    add(peripheral, occurred?.at, 1)
    // Which repetition was on which day is unknown.
    if (repeated !== undefined) add(peripheral, repeated.last?.at, repeated.count)
  }
  return [...counts.values()]
}

/** Returns the devices with a serial number that reports attached, and the devices that they removed. */
const movesOf = (collected: readonly CollectedReport[]) => {
  const of = (which: HostChange['what']) =>
    collected.flatMap(({ agentId, applied, isFirst }) =>
      isFirst
        ? []
        : applied.changes.flatMap(({ what, peripheral: { deviceId, serial } }) =>
            what === which && serial !== '' ? [{ agentId, deviceId, serial }] : [],
          ),
    )
  return [of('attached'), of('gone')] as const
}

const countersOf = (collected: readonly CollectedReport[], assessments: ReadonlyMap<string, Assessment>) => {
  const counters = createCounterMoves()
  for (const { agentId, stored } of collected) {
    const assessed = assessments.get(agentId)
    if (assessed !== undefined) counters.add(stored, assessed.peripherals)
  }
  return counters.deltas()
}

/** Returns the events of one report in order: devices, mode, errors. */
const eventsOfReport = (
  one: CollectedReport,
  assessed: Assessment | undefined,
  lastHosts: ReadonlyMap<string, string> | undefined,
): NewEvent[] => [
  ...eventsOf(
    one.seen,
    one.applied,
    one.isFirst,
    new Map(assessed?.peripherals.map((p) => [p.deviceId, p]) ?? []),
    one.mode?.armed ?? one.state.armed,
    lastHosts,
  ),
  ...one.events.dropped,
  ...one.events.mode,
  ...one.events.errors,
]

/** Writes a batch of collected and assessed check-ins, each table once, in the order in which all writers lock. */
export const createWriteReports =
  ({ agents, peripherals, policy, commands, heldPorts, events, announce }: IngestContext) =>
  async (
    tx: Tx,
    now: Date,
    collected: readonly CollectedReport[],
    assessments: ReadonlyMap<string, Assessment>,
  ): Promise<void> => {
    const moved = collected.flatMap(({ agentId, applied }) =>
      (assessments.get(agentId)?.moved ?? []).map((p) => ({
        isReported: applied.touched.has(p.deviceId),
        row: rowOf(agentId, p),
      })),
    )
    const { reported = [], decided = [] } = Object.groupBy(moved, ({ isReported }) =>
      isReported ? 'reported' : 'decided',
    )
    const lastHosts = await peripherals.lastHosts(tx, ...movesOf(collected))
    await peripherals.writeReported(
      tx,
      now,
      reported.map(({ row }) => row),
    )
    await peripherals.writeDecisions(
      tx,
      now,
      decided.map(({ row }) => row),
    )
    await peripherals.writeFindings(
      tx,
      now,
      [...assessments.values()].flatMap(({ findings }) => findings),
    )
    await policy.countAttachments(
      tx,
      collected.flatMap(({ agentId, applied, isFirst }) =>
        isFirst ? [] : attachmentsOf(agentId, applied.changes, now),
      ),
    )
    await agents.writeModes(
      tx,
      collected.flatMap(({ mode }) => mode ?? []),
    )
    await agents.writeFacts(
      tx,
      collected.flatMap(({ facts }) => facts ?? []),
    )
    await agents.writeVerdicts(
      tx,
      [...assessments.values()].map(({ verdict }) => verdict),
    )
    await agents.recordHeartbeats(
      tx,
      now,
      collected.map(({ beat }) => beat),
    )
    await agents.addErrors(
      tx,
      now,
      collected.flatMap(({ errors }) => errors),
    )
    await peripherals.moveCounters(tx, now, countersOf(collected, assessments))
    const states = new Map(collected.map((one) => [one.agentId, one.state]))
    function baseOf(agentId: string) {
      const host = states.get(agentId)
      if (host === undefined) throw new Error(`host ${agentId} is not in this batch`)
      return eventOrigin(host)
    }
    const happened = collected.flatMap((one) =>
      eventsOfReport(one, assessments.get(one.agentId), lastHosts.get(one.agentId)),
    )
    const acks = collected.flatMap(({ agentId, acks }) => (acks === undefined ? [] : [{ agentId, acks }]))
    happened.push(...(await commands.acknowledge(tx, acks, baseOf)))
    const held = collected.flatMap(({ agentId, held }) => (held === null ? [] : [{ agentId, held }]))
    happened.push(...(await heldPorts.report(tx, held, baseOf)))
    const changed = collected.map(({ agentId }) => agentId)
    if (changed.length > 0) await announce(tx, { agents: changed, peripherals: [...assessments.keys()] })
    if (happened.length > 0) await events.append(tx, happened)
  }
