import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import {
  type AuditAction,
  type NacSystem,
  nacSystemNames,
  nacSystems,
  type QuarantineStepName,
  type QuarantinesChanged,
  quarantineLimits,
} from '#features/contract.ts'
import type { NewEvent, OtherEventKind } from '#features/events/server/index.ts'
import type { QuarantineContext } from './context.ts'
import { createNacStore, type HostRow, type NewStep, type QuarantineRow } from './nac.store.ts'
import type { Systems } from './systems.ts'

/** Bus topic: a quarantine is due. */
export const nacTopic = 'nac'

/**
 * Selects the addresses to quarantine, without excluded ones. An address that several hosts report (container bridges,
 * cloned machines) identifies none of them.
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

/** Returns whether a quarantine, or a part of its addresses, awaits approval. */
const awaitsApproval = ({ state, unconfirmed }: QuarantineRow): boolean =>
  state === 'waiting' ||
  (unconfirmed.length > 0 && state !== 'clearing' && state !== 'cleared' && state !== 'dismissed')

export type Quarantines = ReturnType<typeof createQuarantines>

/** Records the quarantines that people and attack tools cause; the runner carries them out. */
export const createQuarantines = ({ db, clock, bus, audit, events, announce }: QuarantineContext, systems: Systems) => {
  const store = createNacStore()
  const stepOf = (
    id: string,
    actor: { userName: string },
    step: QuarantineStepName,
    message: string,
    isOk = true,
  ): NewStep => ({ quarantineId: id, at: new Date(clock.now()), step, isOk, actor: actor.userName, message })

  /** Builds an event of a quarantine. A removed host has neither tags nor a link. */
  async function eventOf(
    tx: Tx,
    row: Pick<QuarantineRow, 'agent_id' | 'host' | 'address' | 'system'>,
    kind: OtherEventKind,
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

  /** Ends a quarantine in the shortest way. Returns null if it ended or is being cleared. */
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
    // The system got no request yet, so none is undone. A runner about to send one sees the new state.
    if (row.targets.length === 0) {
      await store.close(tx, row.quarantine_id, now, 'cleared')
      await store.addSteps(tx, [
        stepOf(row.quarantine_id, actor, 'cleared', `${why} This server had not put it in force.`),
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
        detail: `${nacSystemNames[system]} is not in use. Ask an Administrator to configure it under Settings.`,
      })
    return rules
  }

  /** Requests a quarantine for one host. Restarts one that failed or waits for approval. */
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

  /** Applies `change` to these quarantines and returns which changed. */
  const decide = (
    actor: Actor,
    ids: readonly string[],
    action: AuditAction,
    change: (tx: Tx, row: QuarantineRow) => Promise<boolean>,
  ): Promise<QuarantinesChanged> =>
    db.transaction(async (tx) => {
      const rows = await store.lock(tx, ids.filter(isId))
      const accepted: QuarantineRow[] = []
      for (const row of rows) if (await change(tx, row)) accepted.push(row)
      const known = new Set(rows.map((row) => row.quarantine_id))
      const done = new Set(accepted.map((row) => row.quarantine_id))
      const [first, ...others] = accepted
      if (first !== undefined) {
        await announce(tx, { agents: [...new Set(accepted.map((row) => row.agent_id))] })
        await bus.publish(tx, nacTopic)
        await audit.write(tx, actor, {
          action,
          entity: others.length === 0 ? entityOf(first) : `${accepted.length} hosts`,
          details: accepted.map((row) => `${row.host}: ${nacSystemNames[row.system]}, ${row.quarantine_id}`).join('; '),
          count: accepted.length,
          objects: accepted.map((row) => ({ kind: 'host', id: row.agent_id, name: row.host })),
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

    /** Requests quarantines of hosts. */
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
            detail: `${without.host} reports no active network interface, so there is no address to quarantine. Wait for its next report, or isolate it at its switch.`,
          })
        const spared = hosts.find((host) => macsToUse(host, rules.never).macs.length === 0)
        if (spared !== undefined)
          throw new AppError('unprocessable', {
            detail: `All addresses of ${spared.host} are excluded from quarantine. Ask an Administrator to change this under Settings.`,
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
            details: `${nacSystemNames[system]}, ${wanted.hours === 0 ? 'no expiry' : `${wanted.hours} h`}: ${reason}; ${names.join(', ')}`,
            count: names.length,
            reason,
            objects: hosts
              .filter((host) => begun.has(host.agent_id))
              .map((host) => ({ kind: 'host', id: host.agent_id, name: host.host })),
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
        if (row.state !== 'clearing') return (await end(tx, row, actor, 'Requested by a person.')) !== null
        // The system is unreachable until the settings name it again, so the person's statement decides.
        if (!row.is_moved || row.place === places.get(row.system)) return false
        await store.close(tx, row.quarantine_id, new Date(clock.now()), 'cleared')
        await store.addSteps(tx, [
          stepOf(
            row.quarantine_id,
            actor,
            'cleared',
            `A person confirmed that it was cleared at ${row.place}. Not read back.`,
          ),
        ])
        return true
      })
    },

    dismiss: (actor: Actor, ids: readonly string[]) =>
      decide(actor, ids, 'nac.quarantineDismissed', async (tx, row) => {
        if (!awaitsApproval(row)) return false
        if (row.state === 'waiting') return (await end(tx, row, actor, 'Rejected by a person.')) !== null
        await store.dropUnconfirmed(tx, row.quarantine_id, new Date(clock.now()))
        const why = `Rejected by a person for ${row.unconfirmed.join(', ')}.`
        await store.addSteps(tx, [stepOf(row.quarantine_id, actor, 'dismissed', why)])
        return true
      }),

    approve: (actor: Actor, ids: readonly string[]) =>
      decide(actor, ids, 'nac.quarantineApproved', async (tx, row) => {
        if (!awaitsApproval(row)) return false
        const { hours, reason, policy, macs } = row
        await store.want(tx, row.quarantine_id, new Date(clock.now()), { hours, reason, policy, macs })
        await store.addSteps(tx, [stepOf(row.quarantine_id, actor, 'approved', 'Approved by a person.')])
        return true
      }),

    /** Appends the events as the last statement of a transaction. */
    appendEvents: async (tx: Tx, appended: readonly NewEvent[]): Promise<void> => {
      if (appended.length > 0) await events.append(tx, appended)
    },
  }
}
