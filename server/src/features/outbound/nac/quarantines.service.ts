import {
  type NacSystem,
  nacSystemNames,
  nacSystems,
  type QuarantineStepName,
  type QuarantinesChanged,
  quarantineLimits,
} from '@portcullis/contract'
import type { Audit } from '#features/system/audit/index.ts'
import type { EventsApi, NewEvent } from '#features/system/events/index.ts'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Bus } from '#platform/db/bus.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { isId, newId } from '#platform/ids.ts'
import type { Announce } from '#platform/live.ts'
import type { HostRow, NacStore, NewStep, QuarantineRow } from './nac.store.ts'
import type { Systems } from './systems.ts'

/** Topic of the bus: something is to be carried out. */
export const nacTopic = 'nac'

export interface QuarantinesDeps {
  db: Db
  clock: Clock
  bus: Pick<Bus, 'publish'>
  audit: Audit
  events: Pick<EventsApi, 'append'>
  announce: Announce
  store: NacStore
  systems: Pick<Systems, 'rules'>
}

/**
 * Addresses to quarantine, without those that are never. One that several hosts report (bridges of containers, copied
 * machines) names none of them.
 */
export const macsToUse = (
  { macs: reported, shared }: HostRow,
  never: ReadonlySet<string>,
): { macs: string[]; sharedWith: string | null } => {
  const macs = reported.filter((mac) => !never.has(mac))
  const own = macs.filter((mac) => shared[mac] === undefined)
  const [first] = macs
  return own.length > 0
    ? { macs: own.slice(0, quarantineLimits.macs), sharedWith: null }
    : {
        macs: macs.slice(0, quarantineLimits.macs),
        sharedWith: first === undefined ? null : (shared[first] ?? null),
      }
}

export const entityOf = ({ host, address }: { host: string; address: string }): string => `${host} (${address})`

export type Quarantines = ReturnType<typeof createQuarantines>

/** Quarantines as people and causes decide them; what is decided is carried out by the runner. */
export const createQuarantines = ({ db, clock, bus, audit, events, announce, store, systems }: QuarantinesDeps) => {
  const stepOf = (
    id: string,
    actor: { userName: string },
    step: QuarantineStepName,
    message: string,
    isOk = true,
  ): NewStep => ({ quarantineId: id, at: new Date(clock.now()), step, isOk, actor: actor.userName, message })

  /** An event of a quarantine; a host that was removed has no tags, and no page. */
  async function eventOf(
    tx: Tx,
    row: Pick<QuarantineRow, 'agent_id' | 'host' | 'address' | 'system'>,
    kind: NewEvent['kind'],
    details: string,
  ): Promise<NewEvent> {
    const tags = (await store.tagsOf(tx, [row.agent_id])).get(row.agent_id)
    return {
      kind,
      agentId: tags === undefined ? null : row.agent_id,
      entity: entityOf(row),
      hashtags: tags ?? '',
      details: `${nacSystemNames[row.system]}: ${details}`,
    }
  }

  /** Ends one, by the shortest way there is. False: it is over, or about to be. */
  async function end(
    tx: Tx,
    row: QuarantineRow,
    actor: { userName: string },
    why: string,
  ): Promise<'ended' | 'begun' | null> {
    if (row.state === 'clearing' || row.state === 'cleared' || row.state === 'dismissed') return null
    const now = new Date(clock.now())
    if (row.state === 'waiting') {
      await store.close(tx, row.quarantine_id, now, 'dismissed')
      await store.addSteps(tx, [stepOf(row.quarantine_id, actor, 'dismissed', why)])
      return 'ended'
    }
    // Nothing was asked for there, so there is nothing to take back. A runner that is about to finds its state changed.
    if (row.targets.length === 0) {
      await store.close(tx, row.quarantine_id, now, 'cleared')
      await store.addSteps(tx, [
        stepOf(row.quarantine_id, actor, 'cleared', `${why} Nothing of it was in force by this server.`),
      ])
      return 'ended'
    }
    await store.toClear(tx, row.quarantine_id, now)
    await store.addSteps(tx, [stepOf(row.quarantine_id, actor, 'clear', why)])
    return 'begun'
  }

  async function rulesOf(system: NacSystem) {
    const rules = await systems.rules(system)
    if (!rules.isOn)
      throw new AppError('unprocessable', {
        detail: `${nacSystemNames[system]} is not in use. An Administrator sets it up in the settings.`,
      })
    return rules
  }

  /** Asks for one host; one that failed, or waits for a person, begins anew. */
  async function begin(
    tx: Tx,
    actor: Actor,
    host: HostRow,
    active: QuarantineRow | undefined,
    {
      system,
      hours,
      reason,
      policy,
      never,
    }: { system: NacSystem; hours: number; reason: string; policy: string; never: ReadonlySet<string> },
  ): Promise<{ id: string; isNew: boolean }> {
    if (active !== undefined && active.state !== 'failed' && active.state !== 'waiting')
      return { id: active.quarantine_id, isNew: false }
    const now = new Date(clock.now())
    const { macs, sharedWith } = macsToUse(host, never)
    const id = active?.quarantine_id ?? newId(clock.now())
    if (active !== undefined) await store.want(tx, id, now, { hours, reason, policy, macs })
    else {
      const { agent_id, host: name, address } = host
      const isNew = await store.insert(tx, {
        quarantine_id: id,
        agent_id,
        host: name,
        address,
        system,
        state: 'wanted',
        macs,
        policy,
        reason,
        hours,
        is_automatic: false,
        device_id: null,
        error: '',
        asked_by: actor.userName,
        created_at: now,
      })
      if (!isNew) {
        const [other] = await store.lockActive(tx, system, [agent_id])
        return { id: other?.quarantine_id ?? id, isNew: false }
      }
    }
    const doubt = sharedWith === null ? '' : ` (its addresses are reported by ${sharedWith} too)`
    await store.addSteps(tx, [stepOf(id, actor, 'asked', `${reason}${doubt}`)])
    return { id, isNew: true }
  }

  /** Changes those of these ids that `change` takes. */
  const decide = (
    actor: Actor,
    ids: readonly string[],
    action: string,
    change: (tx: Tx, row: QuarantineRow) => Promise<boolean>,
  ): Promise<QuarantinesChanged> =>
    db.transaction(async (tx) => {
      const rows = await store.lock(tx, ids.filter(isId))
      const accepted: QuarantineRow[] = []
      for (const row of rows) if (await change(tx, row)) accepted.push(row)
      const known = new Set(rows.map((row) => row.quarantine_id))
      const done = new Set(accepted.map((row) => row.quarantine_id))
      if (accepted.length > 0) {
        await announce(tx, { agents: [...new Set(accepted.map((row) => row.agent_id))] })
        await bus.publish(tx, nacTopic)
        await audit.write(tx, actor, {
          action,
          entity: accepted.length === 1 ? entityOf(accepted[0] as QuarantineRow) : `${accepted.length} hosts`,
          details: accepted.map((row) => `${row.host}: ${nacSystemNames[row.system]}, ${row.quarantine_id}`).join('; '),
          severity: 4,
        })
      }
      return {
        accepted: [...done],
        unchanged: [...known].filter((id) => !done.has(id)),
        notFound: ids.filter((id) => !known.has(id)),
      }
    })

  return {
    stepOf,
    eventOf,
    end,

    /** Asks for the quarantine of hosts. */
    ask: async (
      actor: Actor,
      {
        agentIds,
        system,
        hours,
        reason,
      }: Readonly<{
        agentIds: readonly string[]
        system: NacSystem
        hours?: number | null
        reason: string
      }>,
    ) => {
      const rules = await rulesOf(system)
      const wanted = { system, hours: hours ?? rules.hours, reason, policy: rules.policy, never: rules.never }
      return db.transaction(async (tx) => {
        const ids = agentIds.filter(isId)
        const hosts = await store.hosts(tx, ids)
        const without = hosts.find(({ macs }) => macs.length === 0)
        if (without !== undefined)
          throw new AppError('unprocessable', {
            detail: `${without.host} reports no network interface that is up, so there is no address to quarantine. Wait for its next report, or quarantine it at its switch.`,
          })
        const spared = hosts.find((host) => macsToUse(host, rules.never).macs.length === 0)
        if (spared !== undefined)
          throw new AppError('unprocessable', {
            detail: `All addresses of ${spared.host} are among those that are never quarantined. An Administrator changes that in the settings.`,
          })
        const active = new Map((await store.lockActive(tx, system, ids)).map((row) => [row.agent_id, row]))
        const accepted: { id: string; uuid: string }[] = []
        const existing: { id: string; uuid: string }[] = []
        for (const host of hosts) {
          const { id, isNew } = await begin(tx, actor, host, active.get(host.agent_id), wanted)
          ;(isNew ? accepted : existing).push({ id, uuid: host.agent_id })
        }
        if (accepted.length > 0) {
          const begun = new Set(accepted.map(({ uuid }) => uuid))
          const names = hosts.filter((host) => begun.has(host.agent_id)).map(entityOf)
          await announce(tx, { agents: [...begun] })
          await bus.publish(tx, nacTopic)
          await audit.write(tx, actor, {
            action: 'nac.quarantineAsked',
            entity: names.length === 1 ? (names[0] ?? '') : `${names.length} hosts`,
            details: `${nacSystemNames[system]}, ${wanted.hours === 0 ? 'without end' : `${wanted.hours} h`}: ${reason}; ${names.join(', ')}`,
            severity: 4,
          })
        }
        const found = new Set(hosts.map((host) => host.agent_id))
        return { accepted, existing, notFound: agentIds.filter((id) => !found.has(id)) }
      })
    },

    clear: async (actor: Actor, ids: readonly string[]) => {
      const places = new Map<NacSystem, string>()
      for (const system of nacSystems) places.set(system, (await systems.rules(system)).place)
      return decide(actor, ids, 'nac.clearAsked', async (tx, row) => {
        if (row.state !== 'clearing') return (await end(tx, row, actor, 'Asked for by a person.')) !== null
        // It is out of reach until the settings name its place again, so a person's word is all there is.
        if (!row.is_moved || row.place === places.get(row.system)) return false
        await store.close(tx, row.quarantine_id, new Date(clock.now()), 'cleared')
        await store.addSteps(tx, [
          stepOf(
            row.quarantine_id,
            actor,
            'cleared',
            `A person says that it was taken back at ${row.place}; not read back.`,
          ),
        ])
        return true
      })
    },

    dismiss: (actor: Actor, ids: readonly string[]) =>
      decide(actor, ids, 'nac.quarantineDismissed', async (tx, row) =>
        row.state === 'waiting' ? (await end(tx, row, actor, 'Decided against by a person.')) !== null : false,
      ),

    approve: (actor: Actor, ids: readonly string[]) =>
      decide(actor, ids, 'nac.quarantineApproved', async (tx, row) => {
        if (row.state !== 'waiting') return false
        const { hours, reason, policy, macs } = row
        await store.want(tx, row.quarantine_id, new Date(clock.now()), { hours, reason, policy, macs })
        await store.addSteps(tx, [stepOf(row.quarantine_id, actor, 'approved', 'A person decided.')])
        return true
      }),

    /** Writes events once everything else of a transaction is written. */
    tell: async (tx: Tx, told: readonly NewEvent[]): Promise<void> => {
      if (told.length > 0) await events.append(tx, told)
    },
  }
}
