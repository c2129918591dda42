import type { CheckInRequest, DeviceReport, HeldPort, SignedText } from '@portcullis/contract'
import { cleanText, factsHash, inventoryHash } from '@portcullis/domain'
import {
  type AgentState,
  type AgentsApi,
  dictionaryTexts,
  type StoredBeat,
  type StoredFacts,
  type StoredVerdict,
  storedFacts,
} from '#features/agents/index.ts'
import type { CommandsApi } from '#features/commands/index.ts'
import type { NewEvent } from '#features/events/index.ts'
import type { HeldPortsApi } from '#features/held-ports/index.ts'
import type { JudgedDevice, PeripheralsApi, PeripheralWrite, StoredPeripheral } from '#features/peripherals/index.ts'
import {
  type HostPeripheral,
  type HostPolicy,
  hostOf,
  judgeHost,
  type PolicyApi,
  sourceNumber,
  verdictOf,
} from '#features/policy/index.ts'
import { AppError } from '#platform/app-error.ts'
import { createBreath } from '#platform/breath.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { applyReport, type HostChange, type JudgedChange, storedHash } from './apply-report.ts'
import { createCounterMoves } from './counter-moves.ts'
import { errorEventKind, eventBase, eventsOf, modeEvent } from './report-events.ts'

/** A check-in that was authenticated and has the documented shape. */
export interface CheckIn {
  agentId: string
  request: CheckInRequest
}

/** What the answer to a check-in says beyond the next interval. */
export interface Outcome {
  needInventory?: boolean
  needFacts?: boolean
  needPolicy?: boolean
  hasCommands?: boolean
  /** Signed commands, by counter. */
  commands?: SignedText[]
}

export interface ReportsDeps {
  db: Db
  clock: Clock
  agents: Pick<
    AgentsApi,
    | 'lockStates'
    | 'dictionaryIds'
    | 'writeFacts'
    | 'writeVerdicts'
    | 'writeModes'
    | 'recordHeartbeats'
    | 'addErrors'
    | 'revoked'
  >
  peripherals: Pick<PeripheralsApi, 'storedOf' | 'writeReported' | 'writeDecisions' | 'moveCounters' | 'designs'>
  policy: Pick<PolicyApi, 'open' | 'countAttachments'>
  commands: Pick<CommandsApi, 'acknowledge' | 'deliver' | 'receiveLog'>
  heldPorts: Pick<HeldPortsApi, 'report'>
  events: { append(tx: Tx, events: readonly NewEvent[]): Promise<unknown> }
  /** Tells the consoles, at COMMIT, which agents changed. */
  announce(tx: Tx, change: { agents: string[]; peripherals: string[] }): Promise<void>
}

export type Reports = ReturnType<typeof createReports>

interface Judged {
  changes: JudgedChange[]
  inventory: JudgedDevice[] | null
}

/** Devices of a report: those of its changes, then those of its inventory. */
const reportsOf = (request: CheckInRequest): DeviceReport[] => [
  ...(request.changes ?? []).flatMap((c) => (c.op === 'removed' ? [] : [c.device])),
  ...(request.inventory ?? []),
]

const skewSeconds = (clock: number, now: number): number =>
  Math.max(-2_147_483_648, Math.min(2_147_483_647, Math.round((clock - now) / 1000)))

/** A peripheral as it is written. */
const written = (agentId: string, p: HostPeripheral): PeripheralWrite => ({
  agentId,
  deviceId: p.deviceId,
  designId: p.design.id,
  portPath: p.portPath,
  serial: p.serial,
  speed: p.speed,
  severity: Math.max(p.design.severity, p.unapproved ? 20 : 10),
  present: p.present,
  authorized: p.authorized,
  enforced: p.enforced,
  source: sourceNumber(p.source),
  ruleId: p.ruleId,
  unapproved: p.unapproved,
  caseNumber: p.caseNumber,
  driverMismatch: p.driverMismatch,
})

/** Attachments of a report, each device once. */
const attachmentsOf = (agentId: string, changes: readonly HostChange[]) => {
  const counts = new Map<string, { agentId: string; deviceId: string; n: number; blocked: number }>()
  for (const { what, peripheral } of changes) {
    if (what !== 'attached') continue
    const count = counts.get(peripheral.deviceId) ?? { agentId, deviceId: peripheral.deviceId, n: 0, blocked: 0 }
    count.n++
    if (!peripheral.authorized) count.blocked++
    counts.set(peripheral.deviceId, count)
  }
  return [...counts.values()]
}

/** Applies check-ins that change something: at most one per agent in a batch, all or nothing, answered after COMMIT. */
export const createReports = (deps: ReportsDeps) => {
  const { db, clock, agents, peripherals, policy, commands, heldPorts, events, announce } = deps
  const { designs } = peripherals

  /** Verdicts over all devices of a batch, before its transaction. */
  const judgeBatch = async (items: readonly CheckIn[], now: Date): Promise<Judged[]> => {
    const judged = await designs.judgeAll(
      items.flatMap(({ request }) => reportsOf(request)),
      now,
    )
    let next = 0
    return items.map(({ request }) => ({
      changes: (request.changes ?? []).map((c) =>
        c.op === 'removed' ? { op: c.op, portPath: c.portPath } : { op: c.op, device: judged[next++] as JudgedDevice },
      ),
      inventory: request.inventory === undefined ? null : request.inventory.map(() => judged[next++] as JudgedDevice),
    }))
  }

  const assertConsistent = (request: CheckInRequest): void => {
    // The bytes are stored and hashed again as text: what is not written the one canonical way would never agree.
    for (const { descriptors } of reportsOf(request))
      if (Buffer.from(descriptors, 'base64').toString('base64') !== descriptors)
        throw new AppError('agent_report_invalid', { detail: 'Descriptors are not canonical base64.' })
    const ports = (request.inventory ?? []).map((device) => device.portPath)
    if (new Set(ports).size !== ports.length)
      throw new AppError('agent_report_invalid', { detail: 'body.inventory names a port twice.' })
    if (request.inventory !== undefined && inventoryHash(request.inventory) !== request.inventoryHash)
      throw new AppError('agent_report_invalid', { detail: 'body.inventoryHash is not the hash of body.inventory.' })
  }

  const apply = async (items: readonly CheckIn[]): Promise<(Outcome | AppError)[]> => {
    const now = new Date(clock.now())
    const outcomes = new Map<string, Outcome | AppError>()
    const sound = items.filter(({ agentId, request }) => {
      try {
        assertConsistent(request)
        return true
      } catch (error) {
        outcomes.set(agentId, error as AppError)
        return false
      }
    })
    const judged = await judgeBatch(sound, now)
    const texts = sound.flatMap(({ request }) =>
      request.facts === undefined ? [] : Object.values(dictionaryTexts(request.facts)),
    )
    const dictionary = texts.length === 0 ? new Map<string, number>() : await agents.dictionaryIds(texts)

    await db.transaction(async (tx) => {
      const ids = sound.map((item) => item.agentId).sort()
      const states = new Map((await agents.lockStates(tx, ids)).map((state) => [state.agent_id, state]))
      // The mode a host reports is the truth: it may have gone back to Free by itself.
      const modeOf = new Map(sound.map(({ agentId, request }) => [agentId, request.enforcement]))
      const armedNow = (state: AgentState): boolean =>
        (modeOf.get(state.agent_id)?.mode ?? (state.armed ? 'Armed' : 'Free')) === 'Armed'
      const policies = await policy.open(
        tx,
        [...states.values()].map((state) => ({ ...state, armed: armedNow(state) })),
      )
      const rows = await peripherals.storedOf(tx, ids)
      const known = await designs.byIds(rows.map((row) => row.design_id))
      const rowsOf = Map.groupBy(rows, (row: StoredPeripheral) => row.agent_id)
      const write = {
        peripherals: [] as PeripheralWrite[],
        decisions: [] as PeripheralWrite[],
        facts: [] as StoredFacts[],
        verdicts: [] as StoredVerdict[],
        beats: [] as StoredBeat[],
        events: [] as NewEvent[],
        errors: [] as { agentId: string; at: Date; code: string; message: string }[],
        acks: [] as { agentId: string; acks: CheckInRequest['acks'] }[],
        modes: [] as { agentId: string; armed: boolean; version: number; reason: string }[],
        attachments: [] as { agentId: string; deviceId: string; n: number; blocked: number }[],
        held: [] as { agentId: string; held: readonly HeldPort[] }[],
      }
      const counters = createCounterMoves()
      const changed = { agents: [] as string[], peripherals: [] as string[] }

      // A hundred hosts that have seen a thousand devices each kept the others waiting for 300 ms.
      const breathe = createBreath(10)
      for (const [i, { agentId, request }] of sound.entries()) {
        await breathe()
        const state = states.get(agentId)
        if (state === undefined) outcomes.set(agentId, new AppError('agent_unknown'))
        else if (state.boot_id !== request.bootId) outcomes.set(agentId, new AppError('agent_session_superseded'))
        else if (request.seq <= state.seq) outcomes.set(agentId, { hasCommands: state.has_commands })
        else {
          const before = hostOf(rowsOf.get(agentId) ?? [], known)
          const { changes, inventory } = judged[i] as Judged
          const isFirst = state.inventory_hash === null && before.length === 0 && inventory !== null
          // Changes before the first inventory have nothing to stand on; the inventory that the answer asks for covers them.
          const blind = state.inventory_hash === null && inventory === null
          const applied = applyReport(before, blind ? [] : inventory === null ? changes : [...changes], inventory)
          const hash = blind ? null : storedHash(applied.all)
          const facts = request.facts === undefined ? null : storedFacts(agentId, request.facts, dictionary)
          const seen = { ...state, host: facts?.host ?? state.host, address: facts?.address ?? state.address }
          if (facts !== null) write.facts.push(facts)
          const mode = request.enforcement
          const host = policies.get(agentId) as HostPolicy
          const isModeNew = armedNow(state) !== state.armed
          let after: readonly HostPeripheral[] = []
          if (applied.changes.length > 0 || isModeNew) {
            const all = judgeHost(agentId, applied.all, host, now.getTime())
            after = all
            const stored = new Map(before.map((p) => [p.deviceId, p]))
            const writes = all.filter((p) => applied.touched.has(p.deviceId) || stored.get(p.deviceId) !== p)
            counters.add(before, all)
            write.verdicts.push({ agentId, ...verdictOf(all, host.hasWhitelist(now.getTime())) })
            write.peripherals.push(
              ...writes.filter((p) => applied.touched.has(p.deviceId)).map((p) => written(agentId, p)),
            )
            write.decisions.push(
              ...writes.filter((p) => !applied.touched.has(p.deviceId)).map((p) => written(agentId, p)),
            )
            if (!isFirst) write.attachments.push(...attachmentsOf(agentId, applied.changes))
            changed.peripherals.push(agentId)
          }
          write.events.push(...eventsOf(seen, applied, isFirst, new Map(after.map((p) => [p.deviceId, p]))))
          if (mode !== undefined) {
            const reason = cleanText(mode.reason, 500)
            write.modes.push({ agentId, armed: mode.mode === 'Armed', version: mode.policyVersion, reason })
            if (mode.held !== undefined) write.held.push({ agentId, held: mode.held })
            if (isModeNew) write.events.push(modeEvent(seen, mode.mode === 'Armed', reason))
          }
          for (const error of request.errors ?? []) {
            const message = cleanText(error.message, 500)
            write.errors.push({
              agentId,
              at: new Date(Math.min(error.at, 8.64e15)),
              code: cleanText(error.code, 64),
              message,
            })
            write.events.push({ ...eventBase(seen), kind: errorEventKind(error.code), details: message })
          }
          if (request.acks !== undefined) write.acks.push({ agentId, acks: request.acks })
          const newFacts = request.facts === undefined ? null : factsHash(request.facts)
          write.beats.push({
            agentId,
            seq: request.seq,
            inventoryHash: hash,
            factsHash: newFacts,
            skewSeconds: skewSeconds(request.clock, now.getTime()),
          })
          changed.agents.push(agentId)
          outcomes.set(agentId, {
            needInventory: hash !== request.inventoryHash,
            needFacts: request.factsHash !== undefined && request.factsHash !== (newFacts ?? state.facts_hash),
            needPolicy: state.policy_due,
            hasCommands: state.has_commands,
          })
        }
      }

      await peripherals.writeReported(tx, now, write.peripherals)
      await peripherals.writeDecisions(tx, write.decisions)
      await policy.countAttachments(tx, now, write.attachments)
      await agents.writeModes(tx, write.modes)
      await agents.writeFacts(tx, write.facts)
      await agents.writeVerdicts(tx, write.verdicts)
      await agents.recordHeartbeats(tx, now, write.beats)
      await agents.addErrors(tx, now, write.errors)
      await peripherals.moveCounters(tx, now, counters.deltas())
      const baseOf = (agentId: string) => eventBase(states.get(agentId) as AgentState)
      write.events.push(...(await commands.acknowledge(tx, write.acks, baseOf)))
      write.events.push(...(await heldPorts.report(tx, write.held, baseOf)))
      if (changed.agents.length > 0) await announce(tx, changed)
      if (write.events.length > 0) await events.append(tx, write.events)
    })
    for (const [agentId, outcome] of outcomes)
      if (outcome instanceof AppError && outcome.code === 'agent_unknown')
        outcomes.set(agentId, (await agents.revoked(agentId)) ?? outcome)
    return items.map((item) => outcomes.get(item.agentId) as Outcome | AppError)
  }

  return { apply }
}
