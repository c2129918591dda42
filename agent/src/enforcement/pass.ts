import { agentLimits, type DriverMismatch, type Enforced, type HeldPort } from '@portcullis/contract/agent-protocol'
import { mismatchText, type PolicyDecision } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import type { ScannedDevice } from '../collectors/sysfs.ts'
import type { Log } from '../log.ts'
import type { Reports } from '../reports.ts'
import type { Holds } from './holds.ts'
import type { HostNeeds } from './host-needs.ts'
import type { Judge, JudgedDevice } from './judge.ts'
import type { Kernel } from './kernel.ts'
import type { Recent } from './recent.ts'
import type { Truth } from './truth.ts'

type Guard = NonNullable<Enforced['guard']>

/** What the pass made of one attachment. */
export interface Outcome {
  judged: JudgedDevice
  decision: PolicyDecision
  guard: Guard | undefined
  /** Set while its port is held because of a driver mismatch, of this device or of an earlier one. */
  hold: HeldPort | undefined
  /** True if the device would pass, but the host has reached its limit of held ports and authorises no further device. */
  isKeptOut: boolean
  /** As the kernel said last. */
  isWorking: boolean
}

export interface PassDeps {
  kernel: Pick<Kernel, 'setAuthorized'>
  judge: Judge
  needs: HostNeeds
  recent: Recent
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  /** Whether a key is of a device that worked when the host was armed. */
  wasPresent: (key: string) => boolean
  truth: Truth
  holds: Pick<Holds, 'find' | 'add' | 'isFull'>
  /** Whether the last keyboard is spared on this host. */
  sparesLastKeyboard: () => boolean
}

/** A device that does not take the permission is tried so often per attachment: each try may wait seconds for it. */
const MAX_TRIES = 3

const isKeyboard = ({ device }: JudgedDevice): boolean => device.kinds.includes('Keyboard')
const attachmentOf = ({ portPath, instance }: JudgedDevice): string => `${portPath}|${instance}`

const passes = ({ decision, guard, hold }: Outcome): boolean =>
  hold === undefined && (decision.effect === 'allow' || guard !== undefined)

/** A disk, or a hub on the way to one. */
const isPlainDisk = ({ device }: JudgedDevice): boolean =>
  device.kinds.every((kind) => kind === 'Mass Storage' || kind === 'Hub')

/** Makes the kernel hold what the policy and the guards say about devices. */
export const createPass = (deps: PassDeps) => {
  const { kernel, judge, needs, recent, clock, log, reports, wasPresent, truth, holds } = deps
  /** Attachments that worked before this look: only those can be the last keyboard. */
  let settled: Set<string> | 'all' = 'all'
  let tries = new Map<string, number>()
  /** Attachments whose refusal by the kernel was told. */
  let told = new Set<string>()

  function tellOnce(code: string, { judged }: Outcome, reason: string): void {
    const attachment = attachmentOf(judged)
    if (told.has(attachment)) return
    told.add(attachment)
    reports.add(code, `${judged.portPath}: ${reason}`)
  }

  const tellFull = (outcome: Outcome, found: DriverMismatch, isHeld: boolean): void =>
    tellOnce(
      'held_ports_full',
      outcome,
      `${mismatchText(found)}; ${isHeld ? 'the port is held' : 'the port cannot be held'}. The host holds ${agentLimits.heldPorts} ports. It authorises no further device until a person releases a port.`,
    )

  function look(scanned: ScannedDevice): Outcome {
    const judged = judge.identify(scanned)
    const decision = judge.decide(judged.device, clock.now())
    const outcome: Outcome = {
      judged,
      decision,
      guard: undefined,
      hold: holds.find(judged.portPath),
      isKeptOut: false,
      isWorking: scanned.report.authorized !== false,
    }
    // Only the implicit block has exceptions: what was denied by name, or is an attack tool, has none.
    if (decision.effect === 'block' && decision.source === 'default' && outcome.hold === undefined) {
      if (wasPresent(judged.key)) outcome.guard = 'present'
      else if (recent.covers(judged)) outcome.guard = 'recent'
    }
    return outcome
  }

  function authorise(outcome: Outcome): boolean {
    const attachment = attachmentOf(outcome.judged)
    const tried = tries.get(attachment) ?? 0
    if (tried >= MAX_TRIES) return false
    tries.set(attachment, tried + 1)
    const result = kernel.setAuthorized(outcome.judged.portPath, true)
    if (result.kind === 'refused') tellOnce('authorize_failed', outcome, result.reason)
    if (result.kind !== 'done') return false
    tries.delete(attachment)
    outcome.isWorking = true
    log.info('device_authorized', {
      portPath: outcome.judged.portPath,
      source: outcome.guard ?? outcome.decision.source,
    })
    return true
  }

  function deauthorise(outcome: Outcome): boolean {
    const result = kernel.setAuthorized(outcome.judged.portPath, false)
    if (result.kind === 'refused') {
      outcome.guard = 'unblockable'
      tellOnce('device_unblockable', outcome, `the kernel did not take it away: ${result.reason}`)
    }
    if (result.kind !== 'done') return false
    outcome.isWorking = false
    log.info('device_blocked', { portPath: outcome.judged.portPath, source: outcome.decision.source })
    return true
  }

  /** Holds the port of a device whose drivers contradict its claim. Returns whether they do. */
  function unmask(outcome: Outcome): boolean {
    const scope = judge.scopeOf(outcome.decision, outcome.judged.device)
    const found = truth.open(outcome.judged, scope)
    if (found === null) return false
    outcome.guard = needs.bootPorts().has(outcome.judged.portPath) ? 'boot-disk' : undefined
    if (outcome.guard === undefined) deauthorise(outcome)
    const added = holds.add(outcome.judged, found)
    outcome.hold = holds.find(outcome.judged.portPath)
    outcome.isKeptOut = added === 'full'
    if (added !== 'known' && holds.isFull()) tellFull(outcome, found, added === 'held')
    log.error('driver_mismatch', { portPath: outcome.judged.portPath, evidence: mismatchText(found) })
    return true
  }

  /** The one keyboard that stays when all working keyboards would be blocked. An attack tool or a denied one never stays. */
  function keptKeyboard(outcomes: readonly Outcome[], doomed: ReadonlySet<Outcome>): Outcome | undefined {
    if (!deps.sparesLastKeyboard()) return undefined
    const candidates = [...doomed].filter(
      ({ judged, decision, hold }) =>
        hold === undefined &&
        decision.source === 'default' &&
        isKeyboard(judged) &&
        (settled === 'all' || settled.has(attachmentOf(judged))),
    )
    if (candidates.length === 0) return undefined
    const hasOther = outcomes.some((o) => o.isWorking && isKeyboard(o.judged) && !doomed.has(o))
    if (hasOther || needs.otherKeyboards() > 0) return undefined
    return candidates[0]
  }

  /** Gives `boot-disk` and `last-keyboard` to whom they belong and returns what is left to be taken away. */
  function spare(outcomes: readonly Outcome[], doomed: Outcome[]): Outcome[] {
    if (doomed.length === 0) return doomed
    const bootPorts = needs.bootPorts()
    for (const outcome of doomed) {
      const { judged, decision } = outcome
      // The system runs from it, so even a deny spares it if it is only a disk. An attack tool is never spared.
      const mayBe = decision.source === 'deny' ? isPlainDisk(judged) : decision.source !== 'attack-tool'
      if (mayBe && bootPorts.has(judged.portPath)) outcome.guard = 'boot-disk'
    }
    const rest = doomed.filter((outcome) => outcome.guard === undefined)
    const kept = keptKeyboard(outcomes, new Set(rest))
    if (kept !== undefined) kept.guard = 'last-keyboard'
    return rest.filter((outcome) => outcome !== kept)
  }

  return {
    /** The next full look takes whatever works for settled: at the start and at arming nothing is "newly attached". */
    settleAll(): void {
      settled = 'all'
    },
    /**
     * @param devices in port order, so that a hub is authorised before what hangs on it
     * @param isComplete false: only devices that just came; what may be taken away from a person waits for a full look
     * @returns what became of each, and whether the kernel was changed
     */
    run(devices: readonly ScannedDevice[], isComplete: boolean): { outcomes: Outcome[]; hasWritten: boolean } {
      let hasWritten = false
      const outcomes = devices.map(look)
      for (const outcome of outcomes) {
        if (!passes(outcome)) continue
        if (!outcome.isWorking) {
          // The port of a further lying device could not be held.
          outcome.isKeptOut = holds.isFull()
          if (outcome.isKeptOut || !authorise(outcome)) continue
          hasWritten = true
        }
        // Before the next device is authorised: what the kernel bound counts, not the claim.
        if (unmask(outcome)) hasWritten = true
      }
      // Without a policy nobody knows what to take away: what works goes on until there is one.
      const doomed =
        judge.policy === undefined ? [] : outcomes.filter((o) => !passes(o) && o.isWorking && o.guard === undefined)
      // Deepest first: a device is taken from below its hub, not with it.
      for (const outcome of spare(outcomes, doomed).reverse()) if (deauthorise(outcome)) hasWritten = true
      for (const { judged, decision, guard, isWorking } of outcomes)
        if (isWorking && (decision.effect === 'allow' || guard === 'recent'))
          recent.note(judged, decision.effect === 'allow')
      const working = outcomes.filter((o) => o.isWorking)
      if (isComplete) {
        recent.settle(new Set(working.map((o) => o.judged.key)))
        settled = new Set(working.map((o) => attachmentOf(o.judged)))
        const here = new Set(outcomes.map((o) => attachmentOf(o.judged)))
        tries = new Map([...tries].filter(([attachment]) => here.has(attachment)))
        told = new Set([...told].filter((attachment) => here.has(attachment)))
      } else if (settled !== 'all') for (const o of working) settled.add(attachmentOf(o.judged))
      return { outcomes, hasWritten }
    },
  }
}
