import { agentLimits, type DriverMismatch, type Enforced, type HeldPort } from '@portcullis/contract/agent-protocol.ts'
import { mismatchText, type PolicyDecision } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Gate, HostNeeds, Programs, ScannedDevice, WriteOutcome } from '../platform/platform.ts'
import type { Reports } from '../reports.ts'
import type { DriverCheck } from './driver-check.ts'
import type { Evaluator, IdentifiedDevice } from './evaluator.ts'
import type { Holds } from './holds.ts'
import type { Recent } from './recent.ts'

type Guard = NonNullable<Enforced['guard']>

/** Result of a pass for one attachment. */
export interface Outcome {
  identified: IdentifiedDevice
  decision: PolicyDecision
  guard: Guard | undefined
  /** Set while its port is held because of a driver mismatch of this device or an earlier one. */
  hold: HeldPort | undefined
  /** True if the device is allowed, but the host reached its limit of held ports and authorises no further devices. */
  isKeptOut: boolean
  /** Last state in the system. */
  isWorking: boolean
}

export interface PassDeps {
  gate: Pick<Gate, 'setAuthorized'>
  evaluator: Evaluator
  needs: HostNeeds
  programs?: Pick<Programs, 'withdraw'> | undefined
  /** Authorises a device with closed interfaces, so that they are opened one by one. */
  authorise: (portPath: string) => WriteOutcome
  recent: Recent
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  /** Returns whether a key belongs to a device that worked when the host was armed. */
  wasPresent: (identified: IdentifiedDevice) => boolean
  driverCheck: DriverCheck
  holds: Pick<Holds, 'find' | 'add' | 'isFull'>
  /**
   * Returns whether the host keeps its last keyboard. On Windows, also its last pointing device and Bluetooth input.
   */
  sparesLastKeyboard: () => boolean
}

/** Maximum number of attempts to authorise an attachment, because each attempt can wait seconds for the device. */
const MAX_TRIES = 3

const isKeyboard = ({ device }: IdentifiedDevice): boolean => device.kinds.includes('Keyboard')
const isPointer = ({ device }: IdentifiedDevice): boolean => device.kinds.includes('Mouse')
const attachmentOf = ({ portPath, instance }: IdentifiedDevice): string => `${portPath}|${instance}`

const passes = ({ decision, guard, hold }: Outcome): boolean =>
  hold === undefined && (decision.effect === 'allow' || guard !== undefined)

/** Returns whether a device is only a disk or a hub. */
const isPlainDisk = ({ device }: IdentifiedDevice): boolean =>
  // Stryker disable next-line ConditionalExpression,StringLiteral: No hub reaches this line: a plain one is allowed before, and a false one has another kind.
  device.kinds.every((kind) => kind === 'Mass Storage' || kind === 'Hub')

/** Creates the pass, which applies the policy and the guards to devices. */
export const createPass = (deps: PassDeps) => {
  const { gate, evaluator, needs, recent, clock, log, reports, wasPresent, driverCheck, holds } = deps
  /** Attachments that worked before this pass. Only these can be the last keyboard. */
  let settled: Set<string> | 'all' = 'all'
  let tries = new Map<string, number>()
  /** Attachments for which a refusal by the system was already reported. */
  let reported = new Set<string>()

  function reportOnce(code: string, { identified }: Outcome, reason: string): void {
    const attachment = attachmentOf(identified)
    if (reported.has(attachment)) return
    reported.add(attachment)
    reports.add(code, `${identified.portPath}: ${reason}`)
  }

  const reportFull = (outcome: Outcome, found: DriverMismatch, isHeld: boolean): void =>
    reportOnce(
      'held_ports_full',
      outcome,
      `${mismatchText(found)}; ${isHeld ? 'the port is held' : 'the port cannot be held'}. The host holds ${agentLimits.heldPorts} ports. It authorises no further devices until an operator releases a port.`,
    )

  function evaluateOne(scanned: ScannedDevice): Outcome {
    const identified = evaluator.identify(scanned)
    const decision = evaluator.decide(identified.device, clock.now())
    const outcome: Outcome = {
      identified,
      decision,
      guard: undefined,
      hold: holds.find(identified),
      isKeptOut: false,
      isWorking: scanned.report.authorized !== false,
    }
    // Only the implicit block has exceptions, not a deny rule or an attack tool.
    if (decision.source === 'default' && outcome.hold === undefined) {
      if (wasPresent(identified)) outcome.guard = 'present'
      else if (recent.covers(identified)) outcome.guard = 'recent'
    }
    return outcome
  }

  function authorise(outcome: Outcome): boolean {
    const attachment = attachmentOf(outcome.identified)
    const tried = tries.get(attachment) ?? 0
    if (tried >= MAX_TRIES) return false
    tries.set(attachment, tried + 1)
    deps.programs?.withdraw(outcome.identified.portPath)
    const result = deps.authorise(outcome.identified.portPath)
    if (result.kind === 'refused') reportOnce('authorize_failed', outcome, result.reason)
    if (result.kind !== 'done') return false
    tries.delete(attachment)
    outcome.isWorking = true
    log.info('device_authorized', {
      portPath: outcome.identified.portPath,
      source: outcome.guard ?? outcome.decision.source,
    })
    return true
  }

  function deauthorise(outcome: Outcome): boolean {
    const result = gate.setAuthorized(outcome.identified.portPath, false)
    if (result.kind === 'refused') {
      outcome.guard = 'unblockable'
      reportOnce('device_unblockable', outcome, `the system did not block the device: ${result.reason}`)
    }
    if (result.kind !== 'done') return false
    outcome.isWorking = false
    log.info('device_blocked', { portPath: outcome.identified.portPath, source: outcome.decision.source })
    return true
  }

  /** Holds the port of a device if its drivers contradict its claim. Returns whether they do. */
  function holdOnMismatch(outcome: Outcome): boolean {
    const scope = evaluator.scopeOf(outcome.decision, outcome.identified.device)
    const found = driverCheck.open(outcome.identified, scope)
    if (found === null) return false
    outcome.guard = needs.bootPorts().has(outcome.identified.portPath) ? 'boot-disk' : undefined
    if (outcome.guard === undefined) deauthorise(outcome)
    const added = holds.add(outcome.identified, found)
    outcome.hold = holds.find(outcome.identified)
    outcome.isKeptOut = added === 'full'
    // Stryker disable next-line ConditionalExpression,StringLiteral: A device at a held port does not pass, so its port is never known here.
    if (added !== 'known' && holds.isFull()) reportFull(outcome, found, added === 'held')
    log.error('driver_mismatch', { portPath: outcome.identified.portPath, evidence: mismatchText(found) })
    return true
  }

  /**
   * Returns whether this device can be kept as the last input device: it is not new, and blocked only because no rule
   * allows it.
   */
  const isSpared = ({ identified, decision, hold }: Outcome): boolean =>
    hold === undefined && decision.source === 'default' && (settled === 'all' || settled.has(attachmentOf(identified)))

  /**
   * Returns the device to keep if the pass would block all working devices of a kind. Never keeps an attack tool or a
   * denied device.
   */
  function keptOne(
    outcomes: readonly Outcome[],
    toBlock: readonly Outcome[],
    isKind: (identified: IdentifiedDevice) => boolean,
    others: () => number,
  ): Outcome | undefined {
    const blocked = new Set(toBlock)
    const candidates = toBlock.filter((one) => isKind(one.identified) && isSpared(one))
    // Stryker disable next-line ConditionalExpression: It only saves counting the other devices.
    if (candidates.length === 0) return undefined
    const hasOther = outcomes.some((o) => o.isWorking && isKind(o.identified) && !blocked.has(o))
    if (hasOther || others() > 0) return undefined
    return candidates[0]
  }

  /** Sets the guards of input devices. Returns the devices that are still to be blocked. */
  function applyInputGuards(outcomes: readonly Outcome[], toBlock: readonly Outcome[]): Outcome[] {
    const radios = needs.inputRadios?.()
    for (const one of toBlock)
      if (radios?.has(one.identified.portPath) === true && isSpared(one)) one.guard = 'bluetooth-input'
    const rest = (): Outcome[] => toBlock.filter((one) => one.guard === undefined)
    const keyboard = keptOne(outcomes, rest(), isKeyboard, needs.otherKeyboards)
    if (keyboard !== undefined) keyboard.guard = 'last-keyboard'
    const { otherPointers } = needs
    const pointer = otherPointers && keptOne(outcomes, rest(), isPointer, otherPointers)
    if (pointer !== undefined) pointer.guard = 'last-pointing-device'
    return rest()
  }

  /** Sets the guards of devices that the host needs. Returns the devices that are still to be blocked. */
  function applyGuards(outcomes: readonly Outcome[], toBlock: Outcome[]): Outcome[] {
    // Stryker disable next-line ConditionalExpression: It only saves reading the boot ports.
    if (toBlock.length === 0) return toBlock
    const bootPorts = needs.bootPorts()
    for (const outcome of toBlock) {
      const { identified, decision } = outcome
      // The system runs from this disk, so even a deny keeps a plain disk. An attack tool is always blocked.
      const mayBe = decision.source === 'deny' ? isPlainDisk(identified) : decision.source !== 'attack-tool'
      if (mayBe && bootPorts.has(identified.portPath)) outcome.guard = 'boot-disk'
    }
    const rest = toBlock.filter((outcome) => outcome.guard === undefined)
    return deps.sparesLastKeyboard() ? applyInputGuards(outcomes, rest) : rest
  }

  return {
    /** Treats all working devices of the next full pass as settled, because no device is new at the start and at arming. */
    settleAll(): void {
      settled = 'all'
    },
    /**
     * Evaluates devices and blocks or allows them.
     *
     * @param devices in port order, so that a hub is authorised before its children
     * @param isComplete false if `devices` has only new devices
     * @returns the result for each device, whether a device changed, and the ports of devices that programs may use now
     */
    run(
      devices: readonly ScannedDevice[],
      isComplete: boolean,
    ): { outcomes: Outcome[]; hasWritten: boolean; opened: string[] } {
      let hasWritten = false
      const opened: string[] = []
      const outcomes = devices.map(evaluateOne)
      for (const outcome of outcomes) {
        if (!passes(outcome)) continue
        const wasWorking = outcome.isWorking
        if (!wasWorking) {
          // The port of another device with a false claim could not be held.
          outcome.isKeptOut = holds.isFull()
          if (outcome.isKeptOut || !authorise(outcome)) continue
          hasWritten = true
        }
        // Check the bound drivers before the next device is authorised.
        if (holdOnMismatch(outcome)) hasWritten = true
        else if (!wasWorking) opened.push(outcome.identified.portPath)
      }
      // Without a policy, working devices keep working.
      const toBlock =
        // Stryker disable next-line ConditionalExpression: A device without a policy or with a guard is skipped later as well.
        evaluator.policy === undefined ? [] : outcomes.filter((o) => !passes(o) && o.isWorking && o.guard === undefined)
      // Children before their hub.
      for (const outcome of applyGuards(outcomes, toBlock).reverse()) if (deauthorise(outcome)) hasWritten = true
      // Stryker disable next-line ConditionalExpression: Without an entry, note does nothing for other guards, and with one it keeps the entry.
      for (const { identified, decision, guard, isWorking } of outcomes)
        if (isWorking && (decision.effect === 'allow' || guard === 'recent'))
          recent.note(identified, decision.effect === 'allow')
      const working = outcomes.filter((o) => o.isWorking)
      if (isComplete) {
        recent.settle(new Set(working.map((o) => o.identified.key)))
        settled = new Set(working.map((o) => attachmentOf(o.identified)))
        const here = new Set(outcomes.map((o) => attachmentOf(o.identified)))
        tries = new Map([...tries].filter(([attachment]) => here.has(attachment)))
        reported = new Set([...reported].filter((attachment) => here.has(attachment)))
      } else if (settled !== 'all') for (const o of working) settled.add(attachmentOf(o.identified))
      return { outcomes, hasWritten, opened }
    },
  }
}
