import { cleanText, escapeText, mismatchText, part, unescapeText } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import { type HeldPort, listHeldPorts, profiles, releaseHeldPort } from '#features/contract.ts'
import { deviceDetails, type EventOrigin, type NewEvent } from '#features/events/server/index.ts'
import type { HostsContext } from '../context.ts'
import { createHeldPortsStore, type HeldPortRecord, type ReleasedHold, type ReportedHold } from './held-ports.store.ts'

export type HeldPortsApi = ReturnType<typeof heldPortsFeature>

/** A port release that accepts drivers which its device did not claim. */
interface DriverRelease {
  agentId: string
  id: string
  title: string
}

const rowOf = ({ host, address, port_path, held_at, armed, release_asked_by, ...row }: HeldPortRecord) => ({
  ...row,
  hostIdentifier: host,
  ipAddress: address,
  portPath: port_path,
  heldAt: held_at.toISOString(),
  isEnforced: armed,
  releaseAskedBy: release_asked_by,
})

const reported = (agentId: string, hold: HeldPort): ReportedHold & { isUnknown: boolean } => ({
  agentId,
  id: hold.id,
  portPath: hold.portPath,
  evidence: cleanText(mismatchText(hold.mismatch), 500),
  isUnknown: part('known', hold.mismatch) === null,
  vid: hold.vid,
  pid: hold.pid,
  serial: escapeText(unescapeText(hold.serial)),
  name: cleanText(hold.name, 80),
  fingerprint: hold.fingerprint,
})

/** Manages ports that hosts disabled because a device was not what it claimed to be, until a person releases them. */
export const heldPortsFeature = (
  app: HttpApp,
  { db, clock, audit, commands, changeRequests, announce }: HostsContext,
) => {
  const store = createHeldPortsStore()

  app.register(listHeldPorts, async ({ query }) => {
    const agentId = query.AgentId ?? null
    if (agentId !== null && !isId(agentId)) return { data: [] }
    return { data: (await store.list(db, agentId)).map(rowOf) }
  })

  const titleOf = ({ host, port_path, evidence, fingerprint }: ReleasedHold): string =>
    `Release port ${port_path} of ${host} and accept its drivers (${evidence}; fingerprint ${fingerprint})`

  /** Orders the release. `approved`: title of the request in which a second approver accepted the drivers. */
  async function release(tx: Tx, actor: Actor, agentId: string, id: string, accept: boolean, approved: string | null) {
    const known = isId(agentId) && isId(id)
    const found = known ? await store.askRelease(tx, { agentId, id, by: actor.userName, accept }) : undefined
    if (found === undefined) throw new AppError('not_found', { detail: 'The host does not hold this port.' })
    if (accept && approved === null) {
      // Accepting drivers counts as allowing a device on a host, like a rule does.
      const refused = await changeRequests.take(tx, actor, { kind: 'allow', hosts: 1 })
      const change: DriverRelease = { agentId, id, title: titleOf(found) }
      if (refused !== null) return new NeedsApprover({ kind: 'accept-drivers', change, ...refused })
    }
    if (approved !== null && approved !== titleOf(found))
      throw new AppError('conflict', {
        detail: 'The host reports this port differently since the request. Request the release again.',
      })
    const releases = await store.asked(tx, agentId)
    const title = 'Release ports'
    const { queued } = await commands.queue(tx, actor, [{ agentId, kind: 'release-ports', title, body: { releases } }])
    await audit.write(tx, actor, {
      action: 'heldPorts.released',
      entity: found.host,
      details: `Port ${found.port_path} released (${found.evidence}); drivers ${accept ? 'accepted' : 'not accepted'}; fingerprint ${found.fingerprint}`,
      severity: 4,
      objects: [{ kind: 'host', id: agentId, name: found.host }],
      variant: accept ? 'accepted' : 'notAccepted',
      facts: [{ name: 'Port', before: `${found.port_path}: held (${found.evidence})`, after: 'released' }],
    })
    await announce(tx, { agents: [agentId] })
    return { commands: queued.length }
  }

  changeRequests.handle<DriverRelease>('accept-drivers', {
    action: 'rules',
    title: ({ title }) => title,
    details: (_tx, { agentId, id }) => [`Host ${agentId}`, `Held port ${id}`],
    hosts: () => 1,
    approver: profiles.manager,
    carryOut: async (tx, actor, { agentId, id, title }) => {
      await release(tx, actor, agentId, id, true, title)
      return undefined
    },
  })

  app.register(releaseHeldPort, async ({ actor, params: { agentId, id }, body }) =>
    changeRequests.settle(
      actor,
      await db.transaction((tx) => release(tx, actor, agentId, id, body.acceptDrivers, null)),
    ),
  )

  return {
    /**
     * Stores the held ports of hosts in the transaction of their reports, which has locked them. Returns an event for
     * each newly held port.
     */
    report: async (
      tx: Tx,
      reports: readonly { agentId: string; held: readonly HeldPort[] }[],
      eventBaseOf: (agentId: string) => EventOrigin,
    ): Promise<NewEvent[]> => {
      if (reports.length === 0) return []
      const holds = reports.flatMap(({ agentId, held }) => held.map((hold) => reported(agentId, hold)))
      await store.dropOthers(
        tx,
        reports.map(({ agentId }) => agentId),
        holds,
      )
      const added = await store.add(tx, new Date(clock.now()), holds)
      return added.flatMap(({ agent_id, hold_id }) => {
        const hold = holds.find((one) => one.agentId === agent_id && one.id === hold_id)
        if (hold === undefined) return []
        const { vid, pid, serial, name, evidence, portPath } = hold
        return [
          {
            ...eventBaseOf(agent_id),
            kind: hold.isUnknown ? ('unknownDriver' as const) : ('driverMismatch' as const),
            details: deviceDetails(
              { vulnerable: false, vid, pid, serial, vendor: '', product: name },
              `${evidence}; port ${portPath} is held until a person releases it`,
            ),
          },
        ]
      })
    },
  }
}
