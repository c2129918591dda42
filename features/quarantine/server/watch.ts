import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { AuditEntry } from '#features/audit/server/index.ts'
import { type NacSystem, nacSystems } from '#features/contract.ts'
import type { NewEvent } from '#features/events/server/index.ts'
import type { QuarantineContext } from './context.ts'
import { createNacStore, type Sighting } from './nac.store.ts'
import { entityOf, macsToUse, nacTopic, type Quarantines } from './quarantines.service.ts'
import type { Systems } from './systems.ts'

/** Time that a tool must stay attached before it counts. */
const debounceMs = 30_000
const capMs = 10 * 60_000
/** A host reports its own addresses: one that reports more may mean those of other hosts. */
const mostAddresses = 4
/** Hosts handled per run; the next runs handle the rest of a flood. */
const mostAtOnce = 100

type Rules = Awaited<ReturnType<Systems['rules']>>
const product = systemActor('nac')
const us = { userName: 'system' }

interface Outcomes {
  agents: Set<string>
  events: NewEvent[]
  audits: AuditEntry[]
}

/**
 * Checks the attached devices every few seconds: quarantines hosts with attack tools, and releases those whose cause
 * ended. It reads the inventory instead of following reports, so an outage of a replica or server misses nothing.
 */
export const createWatch = (context: QuarantineContext, systems: Systems, quarantines: Quarantines) => {
  const { db, clock, bus, audit, announce } = context
  const store = createNacStore()

  /** Decides about one host with an attack tool. Returns the number of quarantined addresses. */
  async function consider(
    tx: Tx,
    system: NacSystem,
    rules: Rules,
    sighting: Sighting,
    begun: number,
    outcomes: Outcomes,
  ): Promise<number> {
    const [host] = await store.hosts(tx, [sighting.agent_id])
    if (host === undefined) return 0
    const [active] = await store.lockActive(tx, system, [host.agent_id])
    // A quarantine that is being cleared comes first; the next run decides again.
    if (active?.state === 'clearing') return 0
    await store.markHandled(tx, system, host.agent_id)
    if (active !== undefined) return 0
    const { macs, sharedWith } = macsToUse(host, rules.never)
    const doubt =
      macs.length === 0
        ? host.macs.length === 0
          ? 'The host reports no active network interface. Isolate it at its switch.'
          : 'All its addresses are excluded from quarantine. Check the host on site.'
        : sharedWith !== null
          ? `${sharedWith} reports its addresses too: a quarantine might isolate another host.`
          : macs.length > mostAddresses
            ? `It reports ${macs.length} addresses. More than ${mostAddresses} need approval, because some may belong to other hosts.`
            : begun + macs.length > rules.perTenMinutes
              ? `${begun} ${begun === 1 ? 'address was' : 'addresses were'} quarantined within ten minutes. It has ${macs.length} more, but only ${rules.perTenMinutes} are allowed without approval.`
              : null
    const state = macs.length === 0 ? 'failed' : doubt === null ? 'wanted' : 'waiting'
    const id = newId(clock.now())
    const reason = `Attack tool ${sighting.device} is attached.`
    const isNew = await store.insert(tx, {
      quarantine_id: id,
      agent_id: host.agent_id,
      host: host.host,
      address: host.address,
      system,
      state,
      macs,
      policy: rules.policy,
      reason,
      is_automatic: true,
      device_id: sighting.device_id,
      hours: rules.hours,
      error: state === 'failed' ? (doubt ?? '') : '',
      asked_by: 'system',
      created_at: new Date(clock.now()),
    })
    if (!isNew) return 0
    await store.addSteps(tx, [
      quarantines.stepOf(id, us, 'asked', reason),
      ...(doubt === null ? [] : [quarantines.stepOf(id, us, state === 'failed' ? 'failed' : 'waiting', doubt, false)]),
    ])
    outcomes.agents.add(host.agent_id)
    if (doubt !== null)
      outcomes.events.push(
        await quarantines.eventOf(
          tx,
          { ...host, system },
          state === 'failed' ? 'quarantineFailed' : 'quarantineWaiting',
          `${reason} ${doubt}`,
        ),
      )
    outcomes.audits.push({
      action: state === 'wanted' ? 'nac.quarantineAsked' : `nac.quarantine${state === 'failed' ? 'Failed' : 'Waiting'}`,
      entity: entityOf(host),
      objects: [{ kind: 'host', id: host.agent_id, name: host.host }],
      details: `${system}: ${reason}${doubt === null ? '' : ` ${doubt}`}`,
    })
    return state === 'wanted' ? macs.length : 0
  }

  async function quarantineNew(tx: Tx, system: NacSystem, rules: Rules, outcomes: Outcomes): Promise<void> {
    const now = clock.now()
    const excluded = rules.excludeTags
      .split(',')
      .map((tag) => fold(tag.trim()))
      .filter((tag) => tag !== '')
    const sightings = await store.sightings(tx, system, new Date(now - debounceMs), excluded, mostAtOnce)
    if (sightings.length === 0) return
    let begun = await store.begunSince(tx, system, new Date(now - capMs))
    for (const sighting of sightings) begun += await consider(tx, system, rules, sighting, begun, outcomes)
  }

  async function endOld(tx: Tx, outcomes: Outcomes): Promise<void> {
    const over = new Map((await store.over(tx, new Date(clock.now()))).map((row) => [row.quarantine_id, row.why]))
    if (over.size === 0) return
    for (const row of await store.lock(tx, [...over.keys()])) {
      const why = over.get(row.quarantine_id) ?? ''
      if ((await quarantines.end(tx, row, us, why)) === null) continue
      outcomes.agents.add(row.agent_id)
      outcomes.audits.push({
        action: 'nac.clearAsked',
        entity: entityOf(row),
        details: `${row.system}: ${why}`,
        objects: [{ kind: 'host', id: row.agent_id, name: row.host }],
      })
    }
  }

  return async (): Promise<void> => {
    const rules = await Promise.all(nacSystems.map(async (system) => ({ system, ...(await systems.rules(system)) })))
    const automatic = rules.filter(({ isOn, isAutomatic }) => isOn && isAutomatic)
    await db.transaction(async (tx) => {
      if (!(await store.mayLook(tx))) return
      const outcomes: Outcomes = { agents: new Set(), events: [], audits: [] }
      if (automatic.length === 0) await store.forgetSightings(tx)
      else await store.see(tx, new Date(clock.now()))
      await endOld(tx, outcomes)
      for (const { system, ...own } of automatic) await quarantineNew(tx, system, own, outcomes)
      if (outcomes.agents.size === 0) return
      await announce(tx, { agents: [...outcomes.agents] })
      await bus.publish(tx, nacTopic)
      await quarantines.appendEvents(tx, outcomes.events)
      for (const entry of outcomes.audits) await audit.write(tx, product, { ...entry, severity: 4 })
    })
  }
}
