import {
  approvableSources,
  countText,
  escapeText,
  isSameSerial,
  mustExist,
  type PolicySource,
  sourceOf,
  unescapeText,
} from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import { hostsText, type ResolvedAgent } from '#features/agents/server/index.ts'
import type { AuditEntry, AuditTarget } from '#features/audit/server/index.ts'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import type {
  AuditAction,
  BodyOf,
  DecisionDraft,
  decideDevices,
  peripheralsCommand,
  ResponseOf,
} from '#features/contract.ts'
import type { Fingerprint, StoredPeripheral } from '#features/devices/server/index.ts'
import { type AttachedDevice, attachedKey, maxAttachedDevices, sortedAttached } from './attached-devices.ts'
import type { Changes } from './changes.service.ts'
import type { PolicyContext } from './policy.context.ts'
import { matchKey, plainReason, replacing } from './policy.rules.ts'
import type { RuleRow } from './policy.store.ts'

type Body = BodyOf<typeof peripheralsCommand>
type Item = NonNullable<Body['peripheralsIds']>[number]

/** The criteria of a host rule that comes from an approval or a denial. */
type ByHand = Pick<RuleRow, 'vid' | 'pid' | 'serial' | 'fingerprint' | 'rule_fingerprint'>

/** A decision about devices of hosts. */
interface Decision {
  effect: 'allow' | 'deny'
  items: readonly Item[]
  /** Path of the items in the request, for messages. */
  at: string
  reason: string
  /** False if the server generated the reason. */
  hasReason: boolean
  override: boolean
  /** End of a grant; null for decisions without an end. */
  expiresAt: Date | null
  /** Name of the group for the rules. */
  group?: string | null | undefined
  /** A preview: attack tools that the decision may not allow are not refused, but stay blocked. */
  isPreview?: boolean
}

const approvable: ReadonlySet<PolicySource> = new Set(approvableSources)
const administrator = 10
const hostsPerRead = 500

const escapedOf = (serial: string | null | undefined): string | null =>
  typeof serial === 'string' ? escapeText(unescapeText(serial)) : null

/** Returns the fingerprints of a rule for one device: its model at every port and speed, with any firmware revision. */
const printsOf = (fingerprint: Fingerprint | undefined): Pick<ByHand, 'fingerprint' | 'rule_fingerprint'> => ({
  fingerprint: fingerprint?.device.fingerprintWithoutRevision ?? null,
  rule_fingerprint: fingerprint?.device.ruleFingerprint || null,
})

/** Approves and denies devices of hosts. Each decision becomes a rule for one host. */
export const createApprovals = (
  {
    db,
    clock,
    policySettings: settings,
    store,
    seals,
    agents: { resolve },
    peripherals,
    newlyAllowed: { undecided },
  }: PolicyContext,
  { make, write }: Changes,
) => {
  /** Returns a rule for one host. */
  function ruleFor(
    actor: Actor,
    agentId: string,
    match: ByHand,
    { effect, reason, expiresAt, override }: Pick<Decision, 'effect' | 'reason' | 'expiresAt' | 'override'>,
  ): RuleRow {
    const now = new Date(clock.now())
    return seals.sealed({
      rule_id: newId(clock.now()),
      effect,
      is_grant: expiresAt !== null,
      ...match,
      exact_serial: true,
      kinds: null,
      agent_id: agentId,
      tag_id: null,
      tag_name: null,
      expires_at: expiresAt,
      reason,
      override_attack_tool: override,
      // The grants list shows these together with the grants that people write.
      origin: expiresAt === null ? 'approval' : 'rule',
      created_at: now,
      created_by: actor.userName,
      changed_at: now,
      changed_by: actor.userName,
    })
  }

  /** Returns whether the console shows an attack tool or the host will detect one. */
  const isTool = (fingerprint: Fingerprint | undefined, row: StoredPeripheral): boolean =>
    fingerprint !== undefined &&
    (fingerprint.attackTool !== null || fingerprint.levelOf({ ...row, portPath: row.port_path }) !== null)

  /** Returns the devices that an item means, among those of its model on its host. */
  const meant = (item: Item, rows: readonly StoredPeripheral[]) =>
    rows.filter(
      (row) =>
        (item.serialNumber === null ||
          item.serialNumber === undefined ||
          isSameSerial(item.serialNumber, row.serial)) &&
        (item.deviceID === null || item.deviceID === undefined || row.device_id === item.deviceID),
    )

  /** Returns what a decision adds and deletes. A grant expires, and the earlier decision applies again afterwards. */
  const replacedBy = async (tx: Tx, rules: readonly RuleRow[]) => {
    const hosts = [...new Set(rules.map((r) => r.agent_id as string))]
    return replacing(rules, rules.some((r) => r.is_grant) ? [] : await store.approvalsOf(tx, hosts))
  }

  /** Returns the rules of a decision. One invalid item rejects the whole decision. */
  async function rulesOf(tx: Tx, actor: Actor, agents: readonly ResolvedAgent[], decision: Decision) {
    const { effect, items, at, reason, hasReason, override, expiresAt, isPreview = false } = decision
    const agentIds = [...new Set(agents.map((a) => a.uuid))]
    const rows = await peripherals.storedOf(tx, agentIds)
    const fingerprints = await peripherals.fingerprints.byIds(rows.map((row) => row.design_id))
    const modelOf = (agentId: string, vid: string, pid: string): string => `${agentId} ${vid}:${pid}`.toUpperCase()
    const rowsOf = Map.groupBy(
      rows.flatMap((row) => {
        const fingerprint = fingerprints.get(row.design_id)
        return fingerprint === undefined ? [] : [{ ...row, vid: fingerprint.vid, pid: fingerprint.pid }]
      }),
      (row) => modelOf(row.agent_id, row.vid, row.pid),
    )
    const rules = new Map<string, RuleRow>()
    const named = new Map<string, AuditTarget>()
    for (const [i, item] of items.entries()) {
      const field = `${at}[${i}]`
      const agentId = mustExist(agents[i], 'the host of a decision').uuid
      const devices = meant(item, rowsOf.get(modelOf(agentId, item.vid, item.pid)) ?? [])
      if (devices.length === 0) throw invalid(field, `has never been seen on this agent (${item.vid}:${item.pid})`)
      const tools = devices.filter((row) => isTool(fingerprints.get(row.design_id), row))
      const [tool] = tools
      if (effect === 'allow' && tool !== undefined && !isPreview) {
        const name = fingerprints.get(tool.design_id)?.attackToolName ?? ''
        if (!override)
          throw invalid(
            field,
            `is a known attack tool (${name}). Approving it requires overrideAttackTool, a reason and an Administrator.`,
          )
        if (actor.profile > administrator)
          throw new AppError('forbidden_object', { detail: 'Only an Administrator can approve a known attack tool.' })
        if (!hasReason) throw invalid('body.reason', 'is required to approve a known attack tool')
      }
      const [vid, pid] = [item.vid.toUpperCase(), item.pid.toUpperCase()]
      named.set(
        `${vid}:${pid}`,
        deviceTarget(fingerprints.get(mustExist(devices[0], 'a device of the decision').design_id), `${vid}:${pid}`),
      )
      // Without a serial number, the vendor and product ids match every device of the model.
      const isOne = (item.deviceID ?? null) !== null || item.serialNumber === ''
      // The rule is for one device: its descriptors must stay the same, but its firmware revision may change.
      const matches: ByHand[] = isOne
        ? devices.map((row) => ({
            vid,
            pid,
            serial: row.serial,
            ...printsOf(fingerprints.get(row.design_id)),
          }))
        : [{ vid, pid, serial: escapedOf(item.serialNumber), fingerprint: null }]
      for (const match of matches) {
        const isOverride = effect === 'allow' && override && tools.length > 0
        const rule = ruleFor(actor, agentId, match, { effect, reason, expiresAt, override: isOverride })
        rules.set(matchKey(rule), rule)
      }
    }
    return { rules: [...rules.values()], agentIds, devices: [...named.values()] }
  }

  const deviceTarget = (fingerprint: Fingerprint | undefined, id: string): AuditTarget => ({
    kind: 'device',
    id,
    name: `${[fingerprint?.vendorName, fingerprint?.productName].filter(Boolean).join(' ')} (${id})`.trim(),
  })

  const hostTargets = (agents: readonly Pick<ResolvedAgent, 'uuid' | 'hostIdentifier'>[]): AuditTarget[] => [
    ...new Map(
      agents.map(({ uuid, hostIdentifier }) => [uuid, { kind: 'host' as const, id: uuid, name: hostIdentifier }]),
    ).values(),
  ]

  const textOf = (rules: readonly RuleRow[], reason: string): string =>
    `${reason === '' ? '' : `${reason}: `}${rules
      .slice(0, 100)
      .map((r) => `${r.vid}:${r.pid}${r.serial === null ? '' : ` ${r.serial}`} on ${r.agent_id}`)
      .join('; ')}${rules.length > 100 ? `; and ${rules.length - 100} more (see the policy history)` : ''}`

  /** Makes a decision: one version of the policy and one audit record. */
  async function decide(actor: Actor, decision: Decision) {
    const done = await make(actor, async (tx) => {
      const agents = await resolve(tx, decision.items, decision.at)
      const { rules, agentIds, devices } = await rulesOf(tx, actor, agents, decision)
      if (decision.reason === '' && decision.effect === 'allow' && agentIds.length > 1)
        throw invalid('body.reason', 'is required to allow devices on more than one host')
      const verb = decision.expiresAt !== null ? 'Granted' : decision.effect === 'allow' ? 'Approved' : 'Denied'
      const what =
        rules.length === 1
          ? `${rules[0]?.vid}:${rules[0]?.pid} on ${agents[0]?.hostIdentifier}`
          : `${countText(rules.length, 'device')} on ${hostsText(agentIds.length)}`
      const allowed = rules.some((r) => r.override_attack_tool)
        ? 'peripheral.attackToolApproved'
        : 'peripheral.approved'
      const action: AuditAction = decision.effect === 'allow' ? allowed : 'peripheral.denied'
      return {
        ...(await replacedBy(tx, rules)),
        ...{ summary: `${verb} ${what}`, action, details: textOf(rules, decision.reason) },
        facts: {
          reason: decision.reason,
          count: rules.length,
          hosts: agentIds.length,
          variant: decision.expiresAt === null ? '' : 'grant',
          objects: [...devices, ...hostTargets(agents)],
        },
        armed: [...new Set(agents.filter((a) => a.armed).map((a) => a.uuid))],
        ...{ rules: rules.length, agentIds, group: decision.group },
      }
    })
    const { jobId, isChanged, version, rules, agentIds } = done
    return { jobId, isChanged, version, rules, agentIds }
  }

  async function endOf(tx: Queryable, body: DecisionDraft, at: string): Promise<Date | null> {
    const field = `${at}.expiresAt`
    if ((body.decision === 'grant') !== (body.expiresAt !== undefined))
      throw invalid(field, body.decision === 'grant' ? 'is required for a grant' : 'is allowed for grants only')
    if (body.expiresAt === undefined) return null
    const end = requireTime(field, body.expiresAt).from
    const { grantMaxHours } = await settings.read(tx)
    if (end.getTime() <= clock.now()) throw invalid(field, 'is in the past')
    if (end.getTime() > clock.now() + grantMaxHours * 3_600_000)
      throw invalid(field, `exceeds the maximum grant duration of ${grantMaxHours} hours`)
    return end
  }

  /** Returns the attached devices that "approve all" allows now. */
  async function attachedDevices(tx: Tx, agentIds: readonly string[]): Promise<AttachedDevice[]> {
    const rows = (await peripherals.storedOf(tx, agentIds)).filter(
      (row) => row.present && approvable.has(sourceOf(row.source)),
    )
    const fingerprints = await peripherals.fingerprints.byIds(rows.map((row) => row.design_id))
    return rows.flatMap((row) => {
      const fingerprint = fingerprints.get(row.design_id)
      if (fingerprint === undefined || isTool(fingerprint, row)) return []
      const { vid, pid } = fingerprint
      const { fingerprint: named, rule_fingerprint: ruleFingerprint = null } = printsOf(fingerprint)
      return [{ agentId: row.agent_id, vid, pid, serial: row.serial, fingerprint: named, ruleFingerprint }]
    })
  }

  return {
    /** Lists the attached devices of hosts for a request, which allows exactly these. */
    attachedTo: async (agentIds: readonly string[]): Promise<AttachedDevice[]> => {
      const hosts = await undecided(db, agentIds)
      const count = hosts.reduce((n, { devices }) => n + devices, 0)
      if (count > maxAttachedDevices)
        throw new AppError('change_not_shown', {
          detail: `A second approver could not read this: ${count} devices are attached to these hosts, and a request lists at most ${maxAttachedDevices}. Select fewer hosts.`,
        })
      const found: AttachedDevice[] = []
      for (let at = 0; at < hosts.length; at += hostsPerRead) {
        const some = hosts.slice(at, at + hostsPerRead).map(({ agent_id }) => agent_id)
        found.push(...(await db.transaction((tx) => attachedDevices(tx, some))))
      }
      return sortedAttached(found)
    },

    /**
     * Returns what a decision would write and delete. `rules` also contains rules that are in force already, so that a
     * preview can count their devices.
     */
    plan: async (tx: Tx, actor: Actor, draft: DecisionDraft, at: string) => {
      const agents = await resolve(tx, draft.devices, `${at}.devices`)
      const { rules } = await rulesOf(tx, actor, agents, {
        effect: draft.decision === 'deny' ? 'deny' : 'allow',
        ...{ items: draft.devices, at: `${at}.devices`, reason: '', hasReason: false, isPreview: true },
        override: draft.overrideAttackTool === true,
        expiresAt: await endOf(tx, draft, at),
      })
      return { rules, ...(await replacedBy(tx, rules)) }
    },

    /** POST policy/decisions. */
    decide: async (actor: Actor, body: BodyOf<typeof decideDevices>): Promise<ResponseOf<typeof decideDevices>> => {
      const reason = plainReason(body.reason, 'body.reason')
      if (body.overrideAttackTool === true && body.decision === 'deny')
        throw invalid('body.overrideAttackTool', 'is valid only for an allow')
      if (body.decision === 'grant' && typeof body.group === 'string')
        throw invalid('body.group', 'is not valid for a grant')
      const { agentIds, ...done } = await decide(actor, {
        effect: body.decision === 'deny' ? 'deny' : 'allow',
        items: body.devices,
        at: 'body.devices',
        reason,
        hasReason: reason !== '',
        override: body.overrideAttackTool === true,
        group: body.group,
        expiresAt: await endOf(db, body, 'body'),
      })
      return { ...done, agents: agentIds.length }
    },

    /** POST peripherals/command. One invalid item rejects the whole request. Returns the uuids of the agents. */
    command: async (actor: Actor, body: Body): Promise<string[]> => {
      const opCode = body.opCode.toUpperCase()
      if (opCode !== 'APPROVE' && opCode !== 'DISAPPROVE')
        throw invalid('body.opCode', 'must be one of APPROVE, DISAPPROVE')
      const items = body.peripheralsIds ?? []
      if (items.length === 0) return []
      const effect = opCode === 'APPROVE' ? 'allow' : 'deny'
      const given = plainReason(body.reason ?? '', 'body.reason')
      const done = await decide(actor, {
        effect,
        items,
        at: 'body.peripheralsIds',
        reason: given || `${effect === 'allow' ? 'Approved' : 'Denied'} by ${actor.userName}`.slice(0, 200),
        hasReason: given !== '',
        override: body.overrideAttackTool === true,
        expiresAt: null,
      })
      return done.agentIds
    },

    /**
     * Approves the devices that are attached to hosts now, except attack tools, hubs (always allowed) and devices that
     * a permanent allow already covers. Denied devices stay denied.
     *
     * Returns the number of hosts with such a device, and the audit record. The caller locks hosts for its other changes
     * before it writes the record.
     */
    approvePresent: async (
      tx: Tx,
      actor: Actor,
      agentIds: readonly string[],
      {
        approved,
        only,
        reason: given = '',
        jobId,
      }: {
        approved: number | 'all'
        /** The only devices to approve; absent: all. */
        only?: readonly AttachedDevice[] | undefined
        /** Reason of the person, which the rules state. */
        reason?: string | undefined
        jobId?: string
      },
    ): Promise<{ hosts: number; record: AuditEntry | null } | NeedsApprover> => {
      await store.lockHead(tx)
      const keys = only === undefined ? null : new Set(only.map(attachedKey))
      const reason = given || `Attached when ${actor.userName} approved all devices`.slice(0, 200)
      const decision = { effect: 'allow', reason, expiresAt: null, override: false } as const
      const rules = new Map<string, RuleRow>()
      for (const device of await attachedDevices(tx, agentIds)) {
        if (keys?.has(attachedKey(device)) === false) continue
        const { agentId, ruleFingerprint, ...match } = device
        const rule = ruleFor(actor, agentId, { ...match, rule_fingerprint: ruleFingerprint }, decision)
        rules.set(matchKey(rule), rule)
      }
      const all = [...rules.values()]
      const names = [...(await store.hostNames(tx, agentIds))]
      const done = await write(tx, actor, {
        ...(await replacedBy(tx, all)),
        summary: `Approved all devices attached to ${hostsText(agentIds.length)}`,
        ...{
          action: 'peripheral.allApproved',
          details: countText(all.length, 'device'),
          approved,
          reason: given,
          jobId,
        },
        facts: {
          count: all.length,
          hosts: agentIds.length,
          objects: hostTargets(names.map(([uuid, hostIdentifier]) => ({ uuid, hostIdentifier }))),
        },
      })
      if (done instanceof NeedsApprover) return done
      return { hosts: new Set(all.map((rule) => rule.agent_id)).size, record: done.record }
    },
  }
}

export type Approvals = ReturnType<typeof createApprovals>
