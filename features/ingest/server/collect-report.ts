import {
  cleanText,
  factsHash,
  type HostClock,
  mustExist,
  type Occurrence,
  occurrenceOf,
  skewOf,
} from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { type AgentState, type StoredBeat, type StoredFacts, storedFacts } from '#features/agents/server/index.ts'
import type { CheckInRequest, HeldPort, SignedText } from '#features/contract.ts'
import type { EvaluatedDevice } from '#features/devices/server/index.ts'
import { eventOrigin, type NewEvent } from '#features/events/server/index.ts'
import type { HostPeripheral } from '#features/policy/server/index.ts'
import { type Applied, applyReport, type EvaluatedChange, storedHash } from './apply-report.ts'
import { droppedEvent, errorEventKind, modeEvent } from './report-events.ts'

/** The content of a check-in answer beyond the next interval. */
export interface Outcome {
  needInventory?: boolean
  needFacts?: boolean
  needPolicy?: boolean
  hasCommands?: boolean
  /** Signed commands, by counter. */
  commands?: SignedText[]
}

/** The devices of a check-in with their verdicts. */
export interface Evaluated {
  changes: EvaluatedChange[]
  inventory: EvaluatedDevice[] | null
}

/** One check-in, compared with the stored state of its host. */
export interface CollectedReport {
  agentId: string
  state: AgentState
  /** The same state with the name and the address that the host reports. */
  seen: AgentState
  stored: readonly HostPeripheral[]
  current: readonly HostPeripheral[]
  applied: Applied
  attached: Applied['attached']
  /** True for the first inventory of a new host. */
  isFirst: boolean
  /** True if devices or the mode changed, so that the host must be assessed. */
  isMoved: boolean
  facts: StoredFacts | null
  mode: { agentId: string; armed: boolean; version: number; reason: string } | null
  held: readonly HeldPort[] | null
  errors: { agentId: string; at: Date; code: string; message: string }[]
  acks: CheckInRequest['acks']
  events: { mode: NewEvent[]; errors: NewEvent[]; dropped: NewEvent[] }
  beat: StoredBeat
  outcome: Outcome
}

/** Returns whether a host is armed. The reported mode counts, because a host may return to Free without a command. */
export const isArmed = (state: AgentState, request: CheckInRequest | undefined): boolean =>
  (request?.enforcement?.mode ?? (state.armed ? 'Armed' : 'Free')) === 'Armed'

/** Returns why a check-in changes nothing; null: it changes something. A repeated one is acknowledged again. */
export const refusalOf = (state: AgentState | undefined, request: CheckInRequest): Outcome | AppError | null => {
  if (state === undefined) return new AppError('agent_unknown')
  if (state.boot_id !== request.bootId) return new AppError('agent_session_superseded')
  return request.seq <= state.seq ? { hasCommands: state.has_commands } : null
}

/** Returns how far the host clock is ahead, in whole seconds that fit into an `int`. */
export const skewSeconds = (given: Parameters<typeof skewOf>[0]): number =>
  Math.max(-2_147_483_648, Math.min(2_147_483_647, Math.round(skewOf(given) / 1000)))

/** A check-in as it was received. */
export interface Received {
  request: CheckInRequest
  ageMs: number | undefined
  address?: string | undefined
  receivedAt: number
  attachedAt?: ReadonlyMap<string, Occurrence> | undefined
}

/** Applies one check-in to the stored state of its host. Pure: it neither decides nor writes. */
export const collectReport = (
  state: AgentState,
  { request, ageMs, address, receivedAt, attachedAt }: Received,
  { changes, inventory }: Evaluated,
  stored: readonly HostPeripheral[],
  dictionary: ReadonlyMap<string, number>,
): CollectedReport => {
  const agentId = state.agent_id
  const host: HostClock = {
    clock: request.clock,
    ageMs,
    receivedAt,
    lastSeen: state.last_seen.getTime(),
    lastSkewMs: state.skew_seconds * 1_000,
  }
  const dated = changes.map((change, i): EvaluatedChange => {
    const { at, beforeRestart, repeated } = mustExist(request.changes?.[i], 'the report of a change')
    const occurred = occurrenceOf(at, beforeRestart === true, host)
    if (repeated === undefined) return { ...change, occurred }
    const last = occurrenceOf(repeated.at, repeated.beforeRestart === true, host)
    return { ...change, occurred, repeated: { count: repeated.count, last } }
  })
  const isFirst = state.inventory_hash === null && stored.length === 0 && inventory !== null
  // Changes before the first inventory have no base state. The inventory that the response requests includes them.
  const isBlind = state.inventory_hash === null && inventory === null
  const applied = applyReport(stored, isBlind ? [] : dated, inventory, attachedAt)
  const hash = isBlind ? null : storedHash(applied.all)
  const facts = request.facts === undefined ? null : storedFacts(agentId, request.facts, dictionary)
  const seen = { ...state, host: facts?.host ?? state.host, address: facts?.address ?? state.address }
  const mode = request.enforcement
  const reason = cleanText(mode?.reason ?? '', 500)
  const isModeNew = isArmed(state, request) !== state.armed
  const errors = (request.errors ?? []).map((error) => ({
    agentId,
    at: new Date(Math.min(error.at, 8.64e15)),
    code: cleanText(error.code, 64),
    message: cleanText(error.message, 500),
    kind: errorEventKind(error.code),
    occurred: occurrenceOf(error.at, false, host),
  }))
  const newFacts = request.facts === undefined ? null : factsHash(request.facts)
  return {
    agentId,
    state,
    seen,
    stored,
    current: applied.all,
    applied,
    attached: applied.attached,
    isFirst,
    isMoved: applied.touched.size > 0 || isModeNew,
    facts,
    mode: mode === undefined ? null : { agentId, armed: mode.mode === 'Armed', version: mode.policyVersion, reason },
    held: mode?.held ?? null,
    errors: errors.map(({ kind: _, occurred: __, ...error }) => error),
    acks: request.acks,
    events: {
      mode: mode !== undefined && isModeNew ? [modeEvent(seen, mode.mode === 'Armed', reason)] : [],
      dropped: dated.flatMap((change) => (change.op === 'dropped' ? [droppedEvent(seen, change)] : [])),
      errors: errors.map(({ kind, message, occurred }) => ({ ...eventOrigin(seen), kind, details: message, occurred })),
    },
    beat: {
      agentId,
      seq: request.seq,
      inventoryHash: hash,
      factsHash: newFacts,
      skewSeconds: skewSeconds(host),
      address: address ?? '',
    },
    outcome: {
      needInventory: hash !== request.inventoryHash,
      needFacts: request.factsHash !== undefined && request.factsHash !== (newFacts ?? state.facts_hash),
      needPolicy: state.policy_due,
      hasCommands: state.has_commands,
    },
  }
}
