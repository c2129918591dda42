import { mustExist } from '@portcullis/domain'
import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import { type Queryable, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { hostsText } from '#features/agents/server/index.ts'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import {
  type AcceptedFinding,
  type AuditAction,
  type acceptFinding,
  agentLimits,
  type BodyOf,
  profiles,
  type ResponseOf,
} from '#features/contract.ts'
import type { Fingerprint, StoredPeripheral } from '#features/devices/server/index.ts'
import { because } from './changes.service.ts'
import type { PolicyContext } from './policy.context.ts'
import { inBrackets, plainReason } from './policy.rules.ts'
import { hostText } from './shown-rules.ts'

/** An acceptance that waits for a second approver. */
interface CarriedAcceptance {
  title: string
  uuid: string
  deviceID: string
  fingerprint: string
  finding: string
  evidence: readonly string[]
  reason: string
  hosts: number
}

/** Runs in the transaction that accepts the last finding of a model. */
export type AcceptedListener = (tx: Tx, model: { vid: string; pid: string; by: string }) => Promise<void>

const nameOf = ({ vid, pid, vendorName, productName }: Fingerprint): string =>
  `${[vendorName, productName].filter(Boolean).join(' ')} (${vid}:${pid})`.trim()

/** Accepts suspected findings. An acceptance only lifts the block as an attack tool: rules then decide. */
export const createAcceptedFindings = (context: PolicyContext) => {
  const { db, clock, log, store, audit, changeRequests, peripherals, newlyAllowed, announceChange } = context
  const { accepted, reevaluation } = peripherals
  const listeners: AcceptedListener[] = []

  /** Returns the device that a request means, with its suspected finding. */
  async function suspectOf(q: Tx, uuid: string, deviceID: string): Promise<Fingerprint> {
    const rows: readonly StoredPeripheral[] = isId(uuid) ? await peripherals.storedOf(q, [uuid]) : []
    const row = rows.find(({ device_id }) => device_id === deviceID)
    if (row === undefined) throw notFound('This host never had a device with this ID.')
    const fingerprint = mustExist(
      (await peripherals.fingerprints.byIds([row.design_id])).get(row.design_id),
      'a fingerprint',
    )
    const level = fingerprint.levelOf({ serial: row.serial, speed: row.speed, portPath: row.port_path })
    if (fingerprint.attackTool === 'confirmed' || level === 'confirmed')
      throw new AppError('finding_confirmed', { device: nameOf(fingerprint), finding: fingerprint.attackToolName })
    if (fingerprint.accepted)
      throw new AppError('conflict', { detail: `The finding about ${nameOf(fingerprint)} is already accepted.` })
    // Its stored descriptors are not those of its fingerprint.
    if (fingerprint.device.ruleFingerprint === '')
      throw new AppError('conflict', {
        detail: `The stored descriptors of ${nameOf(fingerprint)} do not match its fingerprint. Unplug it, and plug it in again.`,
      })
    if (fingerprint.attackTool === null)
      throw new AppError('conflict', { detail: `${nameOf(fingerprint)} has no finding that can be accepted.` })
    return fingerprint
  }

  const hostsOf = async (q: Queryable, { device }: Fingerprint): Promise<number> =>
    newlyAllowed.accepting(q, await accepted.fingerprintIds(q, device.ruleFingerprint))

  /** Evaluates the devices of an acceptance again, and records the change as a version of the policy. */
  async function apply(
    tx: Tx,
    actor: Actor,
    row: { fingerprint: string; vid: string; pid: string; finding: string },
    action: AuditAction & ('finding.accepted' | 'finding.revoked'),
    reason: string,
    before: number,
  ): Promise<number> {
    await reevaluation.again(tx, row.fingerprint)
    const verb = action === 'finding.accepted' ? 'Accepted the finding' : 'Revoked the acceptance of the finding'
    const summary = `${verb} about ${row.vid}:${row.pid}${inBrackets(reason)}`
    await store.addVersion(tx, { version: before + 1, at: new Date(clock.now()), by: actor.userName, summary }, [])
    await announceChange(tx)
    if (action === 'finding.accepted' && !(await accepted.isFoundElsewhere(tx, row.vid, row.pid)))
      for (const listener of listeners) await listener(tx, { vid: row.vid, pid: row.pid, by: actor.userName })
    await audit.write(tx, actor, {
      action,
      entity: summary,
      details: because(`${row.finding}, fingerprint ${row.fingerprint}`, reason),
      severity: 4,
      ...(reason === '' ? {} : { reason }),
      objects: [{ kind: 'device', id: `${row.vid}:${row.pid}`, name: `${row.vid}:${row.pid}` }],
      facts: [
        { name: 'Finding', before: row.finding, after: action === 'finding.accepted' ? 'accepted' : 'counts again' },
      ],
    })
    return before + 1
  }

  async function write(tx: Tx, actor: Actor, fingerprint: Fingerprint, reason: string, before: number) {
    const { vid, pid, attackToolName: finding, device } = fingerprint
    const row = {
      ...{ acceptance_id: newId(clock.now()), fingerprint: device.ruleFingerprint, finding, vid, pid, reason },
      ...{ accepted_at: new Date(clock.now()), accepted_by: actor.userName },
    }
    const known = await accepted.all(tx)
    if (known.size >= agentLimits.accepted && !known.has(row.fingerprint))
      throw new AppError('conflict', { detail: `At most ${agentLimits.accepted} findings can be accepted.` })
    await accepted.add(tx, row)
    const version = await apply(tx, actor, row, 'finding.accepted', reason, before)
    return { version, id: row.acceptance_id, fingerprint: device.ruleFingerprint }
  }

  /** The change is in force. If this fails, the next job that evaluates devices repeats it. */
  const settle = (fingerprint: string) => async (): Promise<void> => {
    // A report that was evaluated in the meantime may have missed the change.
    await db.transaction((tx) => reevaluation.again(tx, fingerprint))
    await reevaluation.settle()
  }
  const settled = (fingerprint: string): Promise<void> =>
    settle(fingerprint)().catch((error: unknown) =>
      log.warn({ err: error }, 'cannot recalculate the decisions about a finding; the next evaluation job retries'),
    )

  changeRequests.handle<CarriedAcceptance>('accept-finding', {
    action: 'rules',
    title: ({ title }) => title,
    details: async (tx, { uuid, deviceID, fingerprint, finding, evidence, reason }) => [
      `Reason: ${reason}`,
      `Finding: ${finding}`,
      ...evidence.map((line) => `Evidence: ${line}`),
      `Accepted for every device with fingerprint ${fingerprint}`,
      `Seen as device ${deviceID} on host ${hostText(uuid, await store.hostNames(tx, [uuid]))}`,
    ],
    hosts: ({ hosts }) => hosts,
    approver: profiles.manager,
    carryOut: async (tx, actor, request) => {
      const before = await store.lockHead(tx)
      const fingerprint = await suspectOf(tx, request.uuid, request.deviceID)
      const hosts = await hostsOf(tx, fingerprint)
      if (
        fingerprint.device.ruleFingerprint !== request.fingerprint ||
        fingerprint.attackToolName !== request.finding ||
        hosts > request.hosts
      )
        throw new AppError('conflict', {
          detail: 'The finding or its hosts changed since this was requested. Request it again.',
        })
      await write(tx, actor, fingerprint, request.reason, before)
      return () => settled(request.fingerprint)
    },
  })

  const shown = async (q: Queryable, id: string): Promise<AcceptedFinding | null> =>
    (await accepted.list(q)).find((one) => one.id === id) ?? null

  return {
    list: async () => ({ data: await accepted.list(db) }),

    /** Calls a listener when a model has no finding left that nobody accepted. */
    onAccepted: (listener: AcceptedListener): void => {
      listeners.push(listener)
    },

    accept: async (actor: Actor, body: BodyOf<typeof acceptFinding>): Promise<ResponseOf<typeof acceptFinding>> => {
      if (body.dryRun !== true) assertFresh(actor, clock.now())
      const reason = plainReason(body.reason, 'body.reason')
      if (reason === '' && body.dryRun !== true) throw invalid('body.reason', 'must not be empty')
      const outcome = await transactionAgain(db, async (tx) => {
        const before = await store.lockHead(tx)
        const fingerprint = await suspectOf(tx, body.uuid, body.deviceID)
        const { attackToolName: finding, evidence, device } = fingerprint
        const hosts = await hostsOf(tx, fingerprint)
        const said = { finding, evidence: evidence.slice(1), hosts }
        if (body.dryRun === true) return { ...said, written: null }
        const refused = await changeRequests.take(tx, actor, { kind: 'allow', hosts })
        if (refused === null) return { ...said, written: await write(tx, actor, fingerprint, reason, before) }
        const change: CarriedAcceptance = {
          title: `Accept the suspected finding about ${nameOf(fingerprint)} (newly allows devices on ${hostsText(hosts)})`,
          ...{ uuid: body.uuid, deviceID: body.deviceID, fingerprint: device.ruleFingerprint, reason, ...said },
        }
        return new NeedsApprover({ kind: 'accept-finding', change, ...refused })
      })
      const { written, ...said } = await changeRequests.settle(actor, outcome)
      if (written !== null) await settled(written.fingerprint)
      return {
        ...said,
        acceptance: written === null ? null : await shown(db, written.id),
        version: written?.version ?? null,
      }
    },

    revoke: async (actor: Actor, id: string, given: string): Promise<{ version: number }> => {
      const reason = plainReason(given, 'query.reason')
      const done = await transactionAgain(db, async (tx) => {
        const before = await store.lockHead(tx)
        const row = isId(id) ? await accepted.remove(tx, id) : undefined
        if (row === undefined) throw notFound('No accepted finding has this id.')
        return { version: await apply(tx, actor, row, 'finding.revoked', reason, before), fingerprint: row.fingerprint }
      })
      await settled(done.fingerprint)
      return { version: done.version }
    },
  }
}

export type AcceptedFindings = ReturnType<typeof createAcceptedFindings>
