import type { Clock } from '../../../clock.ts'
import { messageOf } from '../../../exit.ts'
import type { Gate, KnownDevice, SettledDevice, WriteOutcome } from '../../platform.ts'
import type { WindowsDevice } from '../inventory.ts'
import type { Registry } from '../registry.ts'
import { type CallResult, CR, callText, type DeviceCalls } from './device-calls.ts'
import { createWindowsGrade } from './grade.ts'
import { createRecords, type DeviceRecord } from './records.ts'
import { isOwned, isPrepared, saveBefore } from './restriction-backup.ts'
import { RESTRICTIONS } from './restriction-keys.ts'
import { holdsRestrictions, isAllowedByOthers, isDenied, restoreBefore, writeRestrictions } from './restrictions.ts'
import type { Snapshots } from './snapshot.ts'
import { foldId, isUsbDevice, PROBLEM, type Tree, type TreeNode } from './tree.ts'

/** Name of the only switch: the default deny in the registry. */
const SWITCH = 'install-restrictions'
const CLOSED = '0'
const OPEN = '1'
/** The agent was killed while it wrote, or another program changed the values. */
const INCOMPLETE = 'incomplete'

export interface WindowsGateDeps {
  registry: Registry
  calls: DeviceCalls
  snapshots: Snapshots
  clock: Clock
}

/** Detached devices that are uninstalled per pass. Each takes up to 0.2 s. */
const PHANTOMS_PER_PASS = 16
const MAX_TRIES = 3
/** Time for Windows to install an allowed device, which copies files and starts services. */
const INSTALL_MS = 60_000

const isWorkingDeep = (tree: Tree, id: string): boolean =>
  tree.get(id)?.isWorking === true || tree.parts(id).some((node) => node.isWorking)

const isNotInstalled = (node: TreeNode): boolean => node.isPresent && node.problem === PROBLEM.failedInstall

/**
 * Blocks and allows the USB devices of Windows. Installation restrictions block devices that Windows has not installed
 * yet; installed devices are uninstalled. Reads every change back, because Windows reports success even if it changes
 * nothing.
 */
export const createWindowsGate = ({ registry, calls, snapshots, clock }: WindowsGateDeps): Gate => {
  const records = createRecords(registry)
  const grade = createWindowsGrade(registry)
  /** Allowed devices that Windows has not installed yet, by instance ID. */
  const pending = new Map<string, { since: number; tries: number; last: CallResult }>()
  /** Failed attempts to uninstall detached devices, by instance ID. */
  const stuck = new Map<string, number>()
  /** Failed attempts to block a device, with the last reason. Forgotten when the device is detached. */
  const refused = new Map<string, { tries: number; reason: string }>()
  let hasMore = false
  /** Whether the hubs were scanned for devices that an agent uninstalled before it was killed. */
  let isComplete = false

  const find = (portPath: string): WindowsDevice | undefined => snapshots.get().scan.devices.get(portPath)

  /** Returns whether the host is armed. A registry that cannot be read must not stop the inventory. */
  function isArmed(): boolean {
    try {
      return isOwned(registry)
    } catch {
      return false
    }
  }

  const write = (): void => writeRestrictions(registry, records.wanted())

  /** Returns the nodes of allowed devices that the restrictions keep from being installed. */
  const heldParts = (id: string): TreeNode[] => snapshots.get().tree.parts(id).filter(isNotInstalled)

  function install(id: string): CallResult {
    const node = snapshots.get().tree.get(id)
    if (node?.problem === PROBLEM.disabled) calls.enable(node.id)
    const result = calls.install(id)
    snapshots.forget()
    return result
  }

  /** Frees space for a device by dropping the oldest allowed devices that are detached. */
  function makeRoom(record: DeviceRecord): boolean {
    const { tree } = snapshots.get()
    for (const old of records.list()) {
      if (records.hasRoom(record)) return true
      if (old.isAllowed === record.isAllowed && tree.get(old.instanceId)?.isPresent !== true)
        records.remove(old.instanceId)
    }
    return records.hasRoom(record)
  }

  function put(record: DeviceRecord): void {
    if (!makeRoom(record))
      throw new Error('The Windows lists of allowed and denied devices are full. Detach devices that are not needed.')
    records.put(record)
  }

  function allow({ instanceId }: WindowsDevice): WriteOutcome {
    const before = records.get(instanceId)
    if (isArmed()) {
      try {
        put({
          instanceId,
          isAllowed: true,
          parts: before?.parts ?? [],
          key: before?.key ?? '',
          device: before?.device ?? null,
        })
        write()
      } catch (error) {
        records.remove(instanceId)
        return { kind: 'refused', reason: messageOf(error) }
      }
    }
    if (!isWorkingDeep(snapshots.get().tree, instanceId)) {
      const result = install(instanceId)
      if (result.code === CR.noSuchDevnode) return { kind: 'gone' }
      pending.set(foldId(instanceId), { since: clock.monotonic(), tries: 1, last: result })
    }
    allowParts(instanceId)
    return { kind: 'done' }
  }

  /** Allows the nodes of an allowed device that the restrictions keep from being installed. */
  function allowParts(instanceId: string): void {
    const record = records.get(instanceId)
    const held = heldParts(instanceId)
    if (record?.isAllowed !== true || held.length === 0) return
    const parts = [...new Map([...record.parts, ...held.map(({ id }) => id)].map((id) => [foldId(id), id])).values()]
    if (parts.length > record.parts.length) {
      put({ ...record, parts })
      write()
    }
    for (const { id } of held) install(id)
  }

  /** Removes a device from the allowed ones, and denies it by name if the restrictions would allow it otherwise. */
  function deny({ instanceId }: WindowsDevice, isDisabled: boolean): void {
    const node = snapshots.get().tree.get(instanceId)
    records.remove(instanceId)
    const candidate = node && { instanceId, ...node }
    const isDeniedAnyway =
      candidate !== undefined && isDenied(records.wanted(), candidate) && !isAllowedByOthers(registry, instanceId)
    if (isDisabled || !isDeniedAnyway)
      put({ instanceId, isAllowed: false, parts: [], key: '', device: null, ...(isDisabled ? { isDisabled } : {}) })
    write()
  }

  /** Blocks a device. Gives up after three attempts, because each one disturbs the device. */
  function block(portPath: string, device: WindowsDevice): WriteOutcome {
    const key = foldId(device.instanceId)
    const before = refused.get(key)
    if (before !== undefined && before.tries >= MAX_TRIES) return { kind: 'refused', reason: before.reason }
    const outcome = tryToBlock(portPath, device)
    if (outcome.kind === 'refused') refused.set(key, { tries: (before?.tries ?? 0) + 1, reason: outcome.reason })
    else refused.delete(key)
    return outcome
  }

  function tryToBlock(portPath: string, device: WindowsDevice): WriteOutcome {
    const { instanceId, parents } = device
    const isStopped = (): boolean => {
      snapshots.forget()
      const now = find(portPath)
      return now === undefined || !isWorkingDeep(snapshots.get().tree, now.instanceId)
    }
    try {
      // First, because Windows reinstalls a removed device that is still attached.
      deny(device, false)
      const hub = parents[0] ?? ''
      const removed = calls.uninstall(instanceId)
      calls.rescan(hub)
      if (isStopped()) return { kind: 'done' }
      if (removed.needsRestart === true) {
        // The device keeps its driver until it stops. After a power cycle of its port, it arrives as a new device.
        calls.cyclePort(hub, Number(portPath.split(/[-.]/).at(-1)))
        if (isStopped()) return { kind: 'done' }
      }
      const disabled = calls.disable(find(portPath)?.instanceId ?? instanceId)
      if (isStopped()) {
        deny(device, true)
        return { kind: 'done' }
      }
      return {
        kind: 'refused',
        reason: `${callText(removed)}, and the device still works. Disabling it: ${callText(disabled)}`,
      }
    } catch (error) {
      return { kind: 'refused', reason: messageOf(error) }
    }
  }

  /** Makes all hubs report their devices. Until then, an uninstalled device that is still attached is missing. */
  function rescanAll(): void {
    for (const { id, isPresent } of snapshots.get().tree.all())
      if (isPresent && /^USB\\ROOT_HUB/i.test(id)) calls.rescan(id)
    snapshots.forget()
  }

  /** Uninstalls a detached device. Returns each problem only once. */
  function uninstallPhantom(id: string): string | undefined {
    const tried = stuck.get(foldId(id)) ?? 0
    if (tried >= MAX_TRIES) return undefined
    const result = calls.uninstall(id)
    snapshots.forget()
    if (snapshots.get().tree.get(id) === undefined) {
      stuck.delete(foldId(id))
      return undefined
    }
    stuck.set(foldId(id), tried + 1)
    return tried + 1 < MAX_TRIES
      ? undefined
      : `Windows did not remove ${id}, which is not attached: ${callText(result)}. When it is attached, Windows loads its driver without a check.`
  }

  /** Stores the devices that may work, so that Windows can reinstall them without the agent, and allows their parts. */
  function notePassing(attached: readonly SettledDevice[]): void {
    for (const { portPath, key, device, passes } of attached) {
      const at = find(portPath)
      if (at === undefined) continue
      const { instanceId } = at
      const record = records.get(instanceId)
      if (passes) put({ instanceId, isAllowed: true, parts: record?.parts ?? [], key, device })
      else if (record?.isAllowed === true) records.remove(instanceId)
    }
  }

  function retryPending(): string[] {
    const problems: string[] = []
    for (const [key, { since, tries, last }] of pending) {
      const node = snapshots.get().tree.get(key)
      if (node === undefined || !isNotInstalled(node)) {
        pending.delete(key)
        continue
      }
      const result = tries < MAX_TRIES ? install(node.id) : last
      if (clock.monotonic() - since < INSTALL_MS) pending.set(key, { since, tries: tries + 1, last: result })
      else {
        pending.delete(key)
        problems.push(
          `Windows has not installed ${node.id}, which is allowed: ${callText(result)}. Windows may have no driver for it, or apply the change at the next restart.`,
        )
      }
    }
    return problems
  }

  function state(): string {
    try {
      if (!isOwned(registry)) return OPEN
      return isPrepared(registry) && holdsRestrictions(registry, records.wanted()) ? CLOSED : INCOMPLETE
    } catch {
      // Unreadable: setting it reports the error.
      return INCOMPLETE
    }
  }

  return {
    isLasting: true,
    switches: (): string[] => [SWITCH],
    default: (name: string): string | undefined => (name === SWITCH ? state() : undefined),
    setDefault(name: string, value: string): void {
      if (name !== SWITCH) throw new Error(`There is no switch ${name}.`)
      if (value === CLOSED) {
        saveBefore(registry)
        write()
        return
      }
      for (const { instanceId, isDisabled } of records.list())
        if (isDisabled === true && snapshots.get().tree.get(instanceId)?.isPresent === false)
          calls.uninstall(instanceId)
      restoreBefore(registry)
      records.clear()
      rescanAll()
      pending.clear()
      stuck.clear()
      refused.clear()
      hasMore = false
    },
    open: (): string[] => (state() === CLOSED ? [] : [RESTRICTIONS]),
    isAuthorized(portPath: string): boolean | undefined {
      const device = find(portPath)
      if (device === undefined) return undefined
      const { tree } = snapshots.get()
      if (isArmed()) return records.get(device.instanceId)?.isAllowed === true || isWorkingDeep(tree, device.instanceId)
      const problem = tree.get(device.instanceId)?.problem
      return problem !== PROBLEM.failedInstall && problem !== PROBLEM.disabled
    },
    instance: (portPath: string): string => find(portPath)?.instance ?? '',
    setAuthorized(portPath: string, isAllowed: boolean): WriteOutcome {
      const device = find(portPath)
      if (device === undefined) return { kind: 'gone' }
      return isAllowed ? allow(device) : block(portPath, device)
    },
    /**
     * Completes a full pass: makes the lists name exactly the devices that may work, and uninstalls all other
     * devices, attached or detached.
     *
     * @param stillPasses returns whether a detached device is still allowed
     * @returns problems to report
     */
    settle(attached: readonly SettledDevice[], stillPasses: (known: KnownDevice) => boolean): string[] {
      if (!isArmed()) return []
      const problems: string[] = []
      try {
        if (!isComplete) rescanAll()
        isComplete = true
        notePassing(attached)
        const { tree } = snapshots.get()
        for (const key of [...refused.keys()]) if (tree.get(key)?.isPresent !== true) refused.delete(key)
        for (const { instanceId, isAllowed, key, device } of records.list()) {
          if (!isAllowed || tree.get(instanceId)?.isPresent === true) continue
          if (device === null || !stillPasses({ key, device })) records.remove(instanceId)
        }
        write()
        for (const { portPath } of attached) {
          const at = find(portPath)
          if (at !== undefined) allowParts(at.instanceId)
        }
        const phantoms = [...snapshots.get().tree.all()].filter(
          ({ id, isPresent }) =>
            !isPresent &&
            isUsbDevice(id) &&
            records.get(id)?.isAllowed !== true &&
            (stuck.get(foldId(id)) ?? 0) < MAX_TRIES,
        )
        for (const { id } of phantoms.slice(0, PHANTOMS_PER_PASS)) {
          const problem = uninstallPhantom(id)
          if (problem !== undefined) problems.push(problem)
        }
        hasMore = phantoms.length > PHANTOMS_PER_PASS
        problems.push(...retryPending())
      } catch (error) {
        problems.push(messageOf(error))
      }
      return problems
    },
    isUnsettled: (): boolean => hasMore || pending.size > 0,
    grade,
  }
}
