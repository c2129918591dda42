import { isAllowing, sourceOf } from '@portcullis/domain'
import { notFound } from '@portcullis/platform/server/app-error.ts'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import type { CommandsApi } from '#features/commands/server/index.ts'
import {
  attachmentKinds,
  eventCatalogue,
  type getDevicePassport,
  type PassportStay,
  type PassportWarning,
  passportLimits,
  type ResponseOf,
} from '#features/contract.ts'
import { decisionReason } from './decision-labels.ts'
import { createPassportRead, type DeviceEvent, type DevicePlace, type StoredDecision } from './passport.read.ts'

const attachments = attachmentKinds.map((kind) => Number(eventCatalogue[kind].code))
const gone = Number(eventCatalogue.gone.code)
const blocked = Number(eventCatalogue.blocked.code)

/** Clocks of two hosts differ by this much at most, unless an event states more. */
const overlapMs = 60_000

const byKey = ({ agent_id, device_id }: Pick<DevicePlace, 'agent_id' | 'device_id'>): string =>
  `${agent_id} ${device_id}`

/**
 * Returns the stays of a device on one host, oldest first, from its events and its row. The first inventory of a host gives no
 * events, so a stay can begin with the row.
 */
const staysOn = (place: DevicePlace, events: readonly DeviceEvent[]): PassportStay[] => {
  const { agent_id: uuid, host: hostIdentifier, device_id: deviceID } = place
  const stays: PassportStay[] = []
  let open: PassportStay | undefined
  const begin = (at: Date, isApproximate: boolean): PassportStay => {
    const stay = { uuid, hostIdentifier, deviceID, from: at.toISOString(), to: null, isApproximate, blocked: false }
    stays.push(stay)
    return stay
  }
  const inOrder = events.toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.event_id - b.event_id)
  for (const { code, at } of inOrder) {
    if (attachments.includes(code)) {
      // Its removal was not reported.
      if (open !== undefined) Object.assign(open, { to: at.toISOString(), isApproximate: true })
      open = begin(at, false)
    } else {
      open ??= begin(place.first_seen < at ? place.first_seen : at, true)
      if (code === blocked) open.blocked = true
      if (code === gone) {
        open.to = at.toISOString()
        open = undefined
      }
    }
  }
  if (place.present) open ??= begin(stays.length === 0 ? place.first_seen : place.last_seen, true)
  else if (open !== undefined || stays.length === 0)
    Object.assign(open ?? begin(place.first_seen, true), { to: place.last_seen.toISOString(), isApproximate: true })
  return stays
}

/** Returns two stays on different hosts at the same time. */
const overlapOf = (stays: readonly PassportStay[]): [PassportStay, PassportStay] | undefined => {
  const inOrder = stays.toSorted((a, b) => (a.from < b.from ? -1 : 1))
  let last: PassportStay | undefined
  for (const stay of inOrder) {
    const end = last === undefined ? 0 : last.to === null ? Number.POSITIVE_INFINITY : Date.parse(last.to)
    if (last !== undefined && last.uuid !== stay.uuid && end - Date.parse(stay.from) > overlapMs) return [last, stay]
    if (last === undefined || (last.to !== null && (stay.to === null || stay.to > last.to))) last = stay
  }
  return undefined
}

const warningsOf = (
  { serial, is_placeholder }: { serial: string; is_placeholder: boolean },
  places: readonly DevicePlace[],
  stays: readonly PassportStay[],
): PassportWarning[] => {
  const warnings: PassportWarning[] = []
  if (serial !== '' && is_placeholder)
    warnings.push({
      kind: 'placeholder',
      text: 'The serial number is a placeholder that the vendor gives to many devices.',
      consequence:
        'It does not identify this device. A rule with this serial number applies to every device of the model that has it.',
    })
  const fingerprints = new Set(places.map(({ fingerprint }) => fingerprint))
  if (fingerprints.size > 1)
    warnings.push({
      kind: 'fingerprints',
      text: `Devices with this model and serial number have ${fingerprints.size} different fingerprints.`,
      consequence:
        'At least one is a different device: its firmware differs, or it copies the ids and the serial number of another one. A rule with the product ID and serial number applies to all of them. Use a rule with the fingerprint to allow only one.',
    })
  const overlap = overlapOf(stays)
  if (overlap !== undefined)
    warnings.push({
      kind: 'hosts',
      text: `${overlap[0].hostIdentifier} and ${overlap[1].hostIdentifier} had the device at the same time.`,
      consequence:
        'One device cannot be in two places, so there are several: the vendor reuses the serial number, or one is a copy. A rule with this serial number applies to each of them. Allow the device on single hosts instead of on all hosts.',
    })
  return warnings
}

const onHost = ({ agent_id, host, device_id }: Pick<DevicePlace, 'agent_id' | 'host' | 'device_id'>) => ({
  uuid: agent_id,
  hostIdentifier: host,
  deviceID: device_id,
})

const decisionOf = (one: StoredDecision) => ({
  at: one.decided_at.toISOString(),
  ...onHost(one),
  decision: isAllowing(sourceOf(one.source)) ? ('allow' as const) : ('block' as const),
  reason: decisionReason(one.source, one.rule_reason),
  ruleID: one.rule_id,
  ruleExists: one.rule_exists,
  policyVersion: one.policy_version,
  knowledgeVersion: one.knowledge_version,
  fingerprint: one.fingerprint,
})

export type Passport = ReturnType<typeof createPassport>

/** Returns where a device was, and each decision about it. */
export const createPassport = (db: Queryable, logsOf: CommandsApi['logsOf']) => {
  const read = createPassportRead(db)
  return async (agentId: string, deviceId: string): Promise<ResponseOf<typeof getDevicePassport>> => {
    const identity = isId(agentId) ? await read.identity(agentId, deviceId) : undefined
    if (identity === undefined) throw notFound('This host has no device with this deviceID.')
    const { hosts, hostsWithStays, stays: mostStays, decisions: mostDecisions } = passportLimits
    const isOneDevice = identity.serial !== '' && !identity.is_placeholder
    const found = isOneDevice
      ? await read.everywhere(agentId, identity.serial, identity.model_id, hosts + 1)
      : await read.one(agentId, deviceId)
    const places = found.slice(0, hosts)
    const followed = places.slice(0, hostsWithStays)
    const newest = places.toSorted((a, b) => b.last_seen.getTime() - a.last_seen.getTime())
    const designs = [...new Map(newest.toReversed().map((one) => [one.fingerprint, one])).values()]
      .toReversed()
      .slice(0, passportLimits.descriptors)
    const [events, decided, described, logs] = await Promise.all([
      read.events(followed, [...attachments, gone, blocked], mostStays),
      read.decisions(followed, mostDecisions + 1),
      read.descriptors(designs.map((one) => one.design_id)),
      logsOf(followed.map((one) => one.agent_id)),
    ])
    const eventsOf = Map.groupBy(events, byKey)
    const stays = followed
      .flatMap((one) => staysOn(one, eventsOf.get(byKey(one)) ?? []))
      .toSorted((a, b) => (a.from < b.from ? 1 : -1))
    return {
      isOneDevice,
      hosts: newest.map(({ first_seen, last_seen, port_path, ...place }) => ({
        ...onHost(place),
        hierarchy: port_path,
        present: place.present,
        firstSeen: first_seen.toISOString(),
        lastSeen: last_seen.toISOString(),
        fingerprint: place.fingerprint,
      })),
      stays: stays.slice(0, mostStays),
      decisions: decided.slice(0, mostDecisions).map(decisionOf),
      warnings: warningsOf(identity, places, stays),
      descriptors: designs.flatMap((one) => {
        const bytes = described.find(({ design_id }) => design_id === one.design_id)?.bytes.toString('base64')
        return bytes === undefined ? [] : [{ fingerprint: one.fingerprint, ...onHost(one), bytes }]
      }),
      logs: logs.flatMap(({ agentId, ...log }) => {
        const place = followed.find((one) => one.agent_id === agentId)
        if (place === undefined || log.collectedAt < place.first_seen.toISOString()) return []
        return [{ uuid: agentId, hostIdentifier: place.host, ...log }]
      }),
      isComplete:
        found.length <= hostsWithStays &&
        stays.length <= mostStays &&
        decided.length <= mostDecisions &&
        [...eventsOf.values()].every((some) => some.length < mostStays),
    }
  }
}
