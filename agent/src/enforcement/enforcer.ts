import {
  agentLimits,
  type DeviceReport,
  type DriverMismatch,
  type Enforced,
  type EnforcementState,
} from '@portcullis/contract/agent-protocol.ts'
import { caseNumber, mismatchText, part } from '@portcullis/domain'
import type { Clock } from '../clock.ts'
import { messageOf } from '../exit.ts'
import type { Log } from '../log.ts'
import type {
  Gate,
  Grade,
  HostNeeds,
  Interfaces,
  Inventory,
  Programs,
  ScannedDevice,
  Watchdog,
} from '../platform/platform.ts'
import type { Reports } from '../reports.ts'
import { blockedLines, type PublicStatus } from './blocked-lines.ts'
import { type Defaults, notRestored, unblockAll } from './defaults.ts'
import { createDriverCheck } from './driver-check.ts'
import { createEvaluator } from './evaluator.ts'
import { createHolds, isOneOf } from './holds.ts'
import {
  type BlockedDevice,
  type EnforcementMemory,
  hasHold,
  type MemoryFile,
  RELEASED,
  staysClosed,
} from './memory.ts'
import type { Notify } from './notify.ts'
import { switchesToOpen } from './open-switches.ts'
import { createPass, type Outcome } from './pass.ts'
import type { HeldPolicy } from './policy-file.ts'
import { createRecent } from './recent.ts'

export interface EnforcerDeps {
  agentId: string
  gate: Gate
  interfaces: Interfaces
  inventory: Pick<Inventory, 'ports' | 'read'>
  needs: HostNeeds
  programs?: Programs | undefined
  defaults: Defaults
  memory: EnforcementMemory
  saveMemory: MemoryFile['save']
  /** The verified policy of the last run. */
  policy: HeldPolicy | undefined
  notify: Notify
  publicStatus: PublicStatus
  watchdog: Watchdog
  /** Its time must not follow a forged host clock: grants end by it. */
  clock: Clock
  /** Stores the time. Called while a grant is open. */
  keepTime: () => void
  log: Log
  reports: Pick<Reports, 'add'>
  /** Scans all devices now, which calls `enforce`. */
  rescan: () => void
  /** Called when the mode, version or reason changed, so that the agent reports it. */
  onState: () => void
}

const NO_CONTACT = 'The host freed itself, as ordered, because it could not reach the server in time after arming.'

const tooManyHeld = `This host already holds ${agentLimits.heldPorts} ports, so it authorises no further devices.`

const isSame = (a: Enforced | undefined, b: Enforced): boolean =>
  a?.effect === b.effect && a.source === b.source && a.ruleId === b.ruleId && a.guard === b.guard && a.held === b.held

type Keyed = { key: string; earlierKey?: string | undefined }

/** Returns whether the stored keys contain a device. Keys of an earlier release begin with a port path: `1-3.2|…`. */
const presentIn = (keys: readonly string[]): ((device: Keyed) => boolean) => {
  const all = new Set(keys)
  const earlier = new Set(keys.flatMap((key) => /^\d{1,3}-(.*)$/s.exec(key)?.[1] ?? []))
  return ({ key, earlierKey }) => {
    if (earlierKey !== undefined && earlier.has(earlierKey)) all.add(key)
    return all.has(key)
  }
}

/** Creates the enforcer, which controls the mode of the host and applies it to every device (SPEC.md, Enforcement). */
export const createEnforcer = (deps: EnforcerDeps) => {
  const { agentId, gate, inventory, programs, defaults, saveMemory, notify, watchdog, clock, log, reports } = deps
  let { memory } = deps
  const evaluator = createEvaluator()
  evaluator.use(deps.policy)
  const recent = createRecent({ clock, known: memory.recent, decide: evaluator.decide })
  let wasPresent = presentIn(memory.present)
  const { interfaces } = deps
  const holds = createHolds({
    clock,
    known: memory.held ?? [],
    accepted: memory.accepted ?? [],
    peerOf: interfaces.peerOf,
    onChange: (held, accepted) => {
      remember({ held, accepted })
      deps.onState()
    },
  })
  const driverCheck = createDriverCheck({
    interfaces,
    holds,
    isForeign: (name, instance) => memory.foreign.includes(`${name}|${instance}`),
  })
  /** Driver stamps of the last comparison, by port. */
  let compared = new Map<string, string>()
  const pass = createPass({
    gate,
    evaluator,
    needs: deps.needs,
    programs,
    authorise(portPath) {
      const name = gate.interfaceSwitch?.(portPath)
      const wasOpen = name !== undefined && openSwitches.delete(name)
      if (wasOpen) closeDefaults()
      const result = gate.setAuthorized(portPath, true)
      if (wasOpen) {
        openSwitches.add(name)
        closeDefaults()
      }
      return result
    },
    recent,
    clock,
    log,
    reports,
    wasPresent: (identified) => wasPresent(identified),
    driverCheck,
    holds,
    sparesLastKeyboard: () => evaluator.policy?.options?.keepsLastKeyboard !== false,
  })
  /** Last decision about the attachment at each port. */
  let known = new Map<string, { outcome: Outcome; enforced: Enforced | undefined }>()
  /** Monotonic time of the deadline for the first check-in after arming. */
  let contactBy = memory.contactBy === null ? undefined : clock.monotonic() + memory.contactBy - clock.now()
  let grantsUntil = Number.POSITIVE_INFINITY
  let hasWriteProblem = false
  /** Switches for interfaces that are open on an armed host. */
  let openSwitches = new Set<string>()

  /** Stores a change. If the write fails, keeps it in memory and reports it: a full disk must not stop enforcement. */
  function remember(change: Partial<EnforcementMemory>): void {
    memory = { ...memory, ...change }
    try {
      saveMemory(memory)
      hasWriteProblem = false
    } catch (error) {
      if (!hasWriteProblem) reports.add('enforcement_write_failed', messageOf(error))
      hasWriteProblem = true
    }
  }
  const isArmed = (): boolean => memory.mode === 'Armed'
  /** Stores the options durably, because they apply while no agent runs. */
  function storeOptions(): void {
    const failsClosed = evaluator.policy?.options?.failsClosed === true
    if (evaluator.policy !== undefined && failsClosed !== (memory.failsClosed === true)) remember({ failsClosed })
  }

  function closeDefaults(): void {
    const problems = defaults.close(memory.defaults, (old) => remember({ defaults: old }), openSwitches)
    for (const problem of problems) reports.add('default_refused', problem)
  }

  const publish = (): void =>
    programs?.publish(new Map([...known].map(([portPath, { outcome }]) => [portPath, outcome.identified.instance])))

  /** Call with the devices that programs may use after the pass. Their next interfaces must be open before that. */
  function finishPass(opened: readonly string[]): void {
    const next = switchesToOpen(
      [...known.values()].map(({ outcome }) => outcome),
      { gate, evaluator },
    )
    if ([...next].join() !== [...openSwitches].join()) {
      openSwitches = new Set(next)
      closeDefaults()
    }
    for (const portPath of opened) programs?.announce(portPath)
    publish()
  }

  function enforcedOf({ identified, decision, guard, hold, isKeptOut }: Outcome): Enforced | undefined {
    if (evaluator.policy === undefined) return undefined
    const enforced = {
      ...decision,
      policyVersion: evaluator.policy.version,
      ...(guard === undefined ? {} : { guard }),
      ...(hold === undefined && !isKeptOut ? {} : { held: true }),
    }
    const before = known.get(identified.portPath)
    // Keep the policy version of the first such decision, so that a new version without an effect is not reported.
    const isUnchanged = before?.outcome.identified.instance === identified.instance && isSame(before.enforced, enforced)
    return isUnchanged ? before.enforced : enforced
  }

  function note(outcome: Outcome): void {
    known.set(outcome.identified.portPath, { outcome, enforced: enforcedOf(outcome) })
    if (outcome.isWorking) gate.noteConfiguration?.(outcome.identified.portPath)
  }

  const show = (): void => deps.publicStatus.show(blockedLines(memory, evaluator.policy?.contact ?? ''))

  function reasonOf({ decision, hold, isKeptOut }: Outcome): string {
    if (hold !== undefined) return `The port is held: ${mismatchText(hold.mismatch)}.`
    return isKeptOut ? tooManyHeld : evaluator.reasonOf(decision)
  }

  /** Updates the list of blocked devices and notifies the user of new ones. */
  function updateBlocked(): void {
    if (evaluator.policy === undefined) return
    const blocked: BlockedDevice[] = []
    for (const { outcome } of known.values()) {
      const { identified, decision, guard, hold, isKeptOut, isWorking } = outcome
      if (isWorking) continue
      if (!isKeptOut && ((decision.effect === 'allow' && hold === undefined) || guard !== undefined)) continue
      const number = caseNumber(agentId, { ...identified.device, portPath: identified.portPath })
      const before = memory.blocked.find((b) => b.caseNumber === number && b.portPath === identified.portPath)
      const entry = {
        portPath: identified.portPath,
        caseNumber: number,
        name: identified.name,
        reason: reasonOf(outcome),
        since: before?.since ?? new Date(clock.now()).toISOString(),
      }
      blocked.push(entry)
      if (before === undefined) notify.add({ ...entry, contact: evaluator.policy.contact })
    }
    const text = JSON.stringify(blocked)
    const recentNow = recent.list()
    const hasNewRecent =
      recentNow.map((r) => r.key + r.instance).join() !== memory.recent.map((r) => r.key + r.instance).join()
    if (text !== JSON.stringify(memory.blocked) || hasNewRecent) remember({ blocked, recent: recentNow })
    show()
  }

  /** Lets the gate complete a full pass. Without a policy, working devices keep working. */
  function settle(outcomes: readonly Outcome[]): void {
    if (evaluator.policy === undefined || gate.settle === undefined) return
    const problems = gate.settle(
      outcomes.map(({ identified, decision, guard, hold, isKeptOut }) => {
        const { portPath, key, device } = identified
        const mayWork = decision.effect === 'allow' || (guard !== undefined && guard !== 'unblockable')
        return { portPath, key, device, passes: mayWork && hold === undefined && !isKeptOut }
      }),
      ({ key, device }) => {
        const { effect, source } = evaluator.decide(device, clock.now())
        return effect === 'allow' || (source === 'default' && wasPresent({ key }))
      },
    )
    for (const problem of problems) reports.add('enforcement_incomplete', problem)
  }

  function free(reason: string): string[] {
    const isHeld = hasHold(memory)
    if (reason === RELEASED) holds.clear()
    remember({ mode: 'Free', reason })
    contactBy = undefined
    const problems = isHeld
      ? unblockAll({ gate, interfaces, programs, defaults, ports: inventory.ports(), memory })
      : []
    for (const problem of problems) reports.add('free_incomplete', problem)
    known = new Map()
    openSwitches = new Set()
    programs?.publish(undefined)
    recent.clear()
    wasPresent = presentIn([])
    const left = notRestored(gate, memory.defaults)
    remember({ contactBy: null, defaults: left, foreign: [], present: [], recent: [], blocked: [] })
    watchdog.end()
    show()
    log.info('host_freed', { reason })
    deps.rescan()
    deps.onState()
    return problems
  }

  function checkArmed(): void {
    const open = gate.open()
    if (open.length > 0) throw new Error(`The system still lets new devices work: ${open.join(', ')}.`)
  }

  function setUpArmed(): void {
    // The watchdog starts first, so that the old defaults are restored even if the agent dies during this function.
    watchdog.start()
    publish()
    closeDefaults()
    grantsUntil = evaluator.nextExpiry(clock.now())
    pass.settleAll()
  }

  return {
    isArmed,
    state: (): EnforcementState => ({
      mode: memory.mode,
      policyVersion: evaluator.policy?.version ?? 0,
      reason: memory.reason,
      held: holds.list(),
    }),
    hasPolicy: (): boolean => evaluator.policy !== undefined,

    /** Restores the mode of the last run. Call it before the first scan. */
    start(): void {
      if (isArmed()) setUpArmed()
      else if (hasHold(memory)) free(memory.reason)
      show()
    },

    /** Evaluates a full scan. Returns true if it changed a device, which makes the scan stale. */
    enforce(devices: ReadonlyMap<string, ScannedDevice>): boolean {
      if (!isArmed()) return false
      closeDefaults()
      const { outcomes, hasWritten, opened } = pass.run([...devices.values()], true)
      compared = interfaces.stamps()
      for (const port of known.keys()) if (!devices.has(port)) known.delete(port)
      for (const outcome of outcomes) note(outcome)
      finishPass(opened)
      settle(outcomes)
      updateBlocked()
      return hasWritten
    },

    /** Evaluates new devices without waiting for the burst to settle. Returns true if there were any. */
    enforceNew(): boolean {
      if (!isArmed()) return false
      const fresh: ScannedDevice[] = []
      const stamps = interfaces.stamps()
      for (const portPath of inventory.ports()) {
        const before = known.get(portPath)
        const isAuthorized = gate.isAuthorized(portPath)
        // The same attachment with the same state and drivers needs no new decision.
        if (
          before?.outcome.isWorking === isAuthorized &&
          before?.outcome.identified.instance === gate.instance(portPath) &&
          compared.get(portPath) === stamps.get(portPath)
        )
          continue
        const device = inventory.read(portPath)
        if (device !== undefined) fresh.push(device)
      }
      if (fresh.length === 0) return false
      const { outcomes, opened } = pass.run(fresh, false)
      compared = interfaces.stamps()
      for (const outcome of outcomes) note(outcome)
      finishPass(opened)
      return true
    },

    /**
     * Returns the driver mismatch of a device whose port is held, or of any device on a Free host, and the unknown drivers
     * of a device that works.
     */
    mismatch(scanned: ScannedDevice): DriverMismatch | undefined {
      const identified = evaluator.identify(scanned)
      const hold = holds.find(identified)
      if (hold !== undefined && isOneOf(identified.device, hold.fingerprint)) return hold.mismatch
      const found = driverCheck.mismatch(identified, { by: 'identity' })
      return (isArmed() ? part('unknown', found) : found) ?? undefined
    },

    /** Returns the interfaces that stay closed of a device that an armed host allows. */
    closedInterfaces({ portPath }: DeviceReport): DeviceReport['closedInterfaces'] {
      const outcome = known.get(portPath)?.outcome
      if (outcome?.isWorking !== true || outcome.hold !== undefined) return undefined
      const { identified, decision } = outcome
      const closed = driverCheck.closed(identified, evaluator.scopeOf(decision, identified.device))
      return closed.length === 0 ? undefined : closed.slice(0, 32)
    },

    /** Releases held ports. With `accept`, the held device may use its drivers from now on. */
    releasePorts(releases: readonly { id: string; accept: boolean }[]): void {
      for (const { id, accept } of releases) {
        holds.release(id, accept)
        log.info('port_released', { id, accept })
      }
      deps.rescan()
    },

    /** Returns the reported decision about a device; undefined on a Free host. */
    enforced: ({ portPath }: DeviceReport): Enforced | undefined => known.get(portPath)?.enforced,

    /**
     * Arms the host, or applies new settings to an armed host.
     *
     * @param revertMinutes Minutes within which a host that is newly armed must reach the server, or else becomes Free. 0: never
     * @throws if the system refuses; the host then keeps its previous state
     */
    arm(policy: HeldPolicy, applyToPresent: boolean, devices: readonly ScannedDevice[], revertMinutes = 0): void {
      const { grade, reason } = gate.grade()
      if (grade === 'observe') throw new Error(`This host cannot block devices. ${reason}`)
      const wasArmed = isArmed()
      const before = memory
      evaluator.use(policy)
      storeOptions()
      if (!wasArmed) {
        const works = (d: ScannedDevice): boolean => d.report.authorized !== false
        recent.clear()
        const revertMs = revertMinutes * 60_000
        contactBy = revertMs === 0 ? undefined : clock.monotonic() + revertMs
        memory = {
          ...memory,
          present: devices.filter(works).map((d) => evaluator.identify(d).key),
          foreign: devices.flatMap((d) => [
            ...(works(d) ? [] : [`${d.report.portPath}|${d.instance}`]),
            ...interfaces
              .of(d.report.portPath)
              .filter((i) => !i.isAuthorized)
              .map((i) => `${i.name}|${d.instance}`),
          ]),
          contactBy: revertMs === 0 ? null : clock.now() + revertMs,
        }
      }
      if (applyToPresent) memory = { ...memory, present: [] }
      memory = { ...memory, agentId, mode: 'Armed', reason: '', applyToPresent }
      wasPresent = presentIn(memory.present)
      try {
        // Not `remember`: if the file cannot be written, the host could not be restored after a crash and must not be armed.
        saveMemory(memory)
        setUpArmed()
        if (grade !== 'after-attach') checkArmed()
      } catch (error) {
        if (wasArmed) {
          memory = before
          wasPresent = presentIn(memory.present)
        } else free('')
        throw error
      }
      deps.rescan()
      log.info('host_armed', { grade, policyVersion: policy.policy.version, applyToPresent })
      deps.onState()
    },

    /** Unblocks all devices and restores the defaults of the system. Returns the refusals of the system. */
    free,

    /** Applies another policy. */
    usePolicy(policy: HeldPolicy): void {
      evaluator.use(policy)
      storeOptions()
      grantsUntil = evaluator.nextExpiry(clock.now())
      if (isArmed()) deps.rescan()
      deps.onState()
    },

    /** Call when the server acknowledged a check-in with mode Armed. */
    contacted(): void {
      if (contactBy === undefined) return
      contactBy = undefined
      remember({ contactBy: null })
    },

    /** Checks the contact deadline, the ends of grants and the controllers' defaults. */
    tick(): void {
      if (!isArmed()) return
      if (contactBy !== undefined && clock.monotonic() >= contactBy) {
        reports.add('reverted_to_free', NO_CONTACT)
        free(NO_CONTACT)
        return
      }
      closeDefaults()
      if (gate.isUnsettled?.() === true) deps.rescan()
      if (Number.isFinite(grantsUntil)) deps.keepTime()
      if (clock.now() < grantsUntil) return
      grantsUntil = evaluator.nextExpiry(clock.now())
      deps.rescan()
    },

    /** Stops enforcement. New devices then work unless the host fails closed. Blocked devices stay blocked. */
    stop(): void {
      if (!isArmed()) return
      programs?.publish(undefined)
      if (gate.isLasting === true || staysClosed(memory)) {
        if (openSwitches.size > 0) {
          openSwitches = new Set()
          closeDefaults()
        }
        remember({ recent: recent.list() })
        watchdog.end()
        return
      }
      try {
        for (const problem of defaults.restore(memory.defaults)) log.error('default_not_restored', { message: problem })
        remember({ defaults: notRestored(gate, memory.defaults), recent: recent.list() })
      } catch (error) {
        log.error('stop_incomplete', { message: messageOf(error) })
      }
      watchdog.end()
    },
    grade: (): Grade => gate.grade(),
  }
}
export type Enforcer = ReturnType<typeof createEnforcer>
