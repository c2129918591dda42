import type { DeviceChange, DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import type { Clock } from '../clock.ts'
import { messageOf } from '../exit.ts'
import type { Log } from '../log.ts'
import type { Inventory, Monitor, Platform, Scan, ScannedDevice, WatcherTiming } from '../platform/platform.ts'
import type { Reports } from '../reports.ts'
import { diffDevices } from './diff.ts'

export const watcherTiming: WatcherTiming = { pollMs: 500, resyncMs: 30_000, settleMs: 50, settleMaxMs: 500 }

export interface WatcherDeps {
  inventory: Pick<Inventory, 'scan' | 'stamp'>
  /** Creates the source of device events. If undefined, the watcher only polls. */
  createMonitor: Platform['monitor']
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  /** Called with the changes of one scan, in order and never empty, before `devices()` returns the new state. */
  onChanges: (changes: DeviceChange[]) => void
  /** Applies the policy to the devices. */
  enforcement?: {
    /** Evaluates a full scan. Returns true if it changed devices, which must then be read again. */
    enforce: (devices: ReadonlyMap<string, ScannedDevice>) => boolean
    /** Evaluates new devices before the burst has settled. */
    enforceNew: () => boolean
    enforced: (report: DeviceReport) => DeviceReport['enforced']
    /** Returns the drivers that are not allowed for a device. */
    mismatch: (device: ScannedDevice) => DeviceReport['mismatch']
    /** Returns the interfaces of an allowed device that stay closed. */
    closedInterfaces: (report: DeviceReport) => DeviceReport['closedInterfaces']
  }
  timing?: WatcherTiming
}

/** Watches the host's devices. Events and polls trigger full scans; only a scan determines the devices. */
export const createWatcher = ({
  inventory,
  createMonitor,
  clock,
  log,
  reports,
  onChanges,
  enforcement,
  timing = watcherTiming,
}: WatcherDeps) => {
  let devices: ReadonlyMap<string, ScannedDevice> = new Map()
  let stamp = ''
  let isMonitored = false
  let isMonitorUnreliable = false
  let isStarted = false
  let isStopped = false
  let monitor: Monitor | undefined
  let tick: NodeJS.Timeout | undefined
  let settling: NodeJS.Timeout | undefined
  let burstSince = 0
  let lastScan = 0
  /** Problems of the last scan and problems already reported, by attachment, so that a replug is reported again. */
  let seen = new Set<string>()
  let reported = new Set<string>()

  function reportProblems(scan: Scan): void {
    const now = new Set<string>()
    const stillReported = new Set<string>()
    for (const problem of scan.problems) {
      const key = `${problem.portPath} ${scan.devices.get(problem.portPath)?.instance ?? ''} ${problem.code}`
      now.add(key)
      // A device may be unreadable for one scan while it is attached or removed.
      const isDue = problem.code !== 'descriptors_unreadable' || seen.has(key)
      if (isDue && !reported.has(key)) reports.add(problem.code, problem.message)
      if (isDue || reported.has(key)) stillReported.add(key)
    }
    seen = now
    reported = stillReported
  }

  /** Scans all devices and applies the policy. Scans again if that changed a device. */
  function enforcedScan(): Scan {
    stamp = inventory.stamp()
    let result = inventory.scan()
    if (enforcement?.enforce(result.devices)) {
      stamp = inventory.stamp()
      result = inventory.scan()
    }
    for (const device of result.devices.values()) {
      const enforced = enforcement?.enforced(device.report)
      const mismatch = enforcement?.mismatch(device)
      if (enforced !== undefined) device.report.enforced = enforced
      if (mismatch !== undefined) device.report.mismatch = mismatch
      const closed = enforcement?.closedInterfaces(device.report)
      if (closed !== undefined) device.report.closedInterfaces = closed
    }
    return result
  }

  function scan(): DeviceChange[] {
    lastScan = clock.monotonic()
    let result: Scan
    try {
      result = enforcedScan()
    } catch (error) {
      const key = `scan ${messageOf(error)}`
      if (!reported.has(key)) reports.add('scan_failed', messageOf(error))
      reported.add(key)
      return []
    }
    const changes = diffDevices(devices, result.devices, clock.now())
    if (changes.length > 0) onChanges(changes)
    devices = result.devices
    reportProblems(result)
    return changes
  }

  function settle(): void {
    clearTimeout(settling)
    settling = setTimeout(() => {
      settling = undefined
      let moved = false
      try {
        moved = inventory.stamp() !== stamp
      } catch {
        // The scan below reports the same error.
      }
      if (moved && clock.monotonic() - burstSince < timing.settleMaxMs) {
        stamp = inventory.stamp()
        settle()
      } else {
        scan()
      }
    }, timing.settleMs)
  }

  function onEvent(): void {
    if (isStopped) return
    enforcement?.enforceNew()
    if (settling === undefined) burstSince = clock.monotonic()
    if (settling === undefined || clock.monotonic() - burstSince < timing.settleMaxMs) settle()
  }

  function onTick(): void {
    const isReliable = isMonitored && !isMonitorUnreliable
    if (settling === undefined) {
      if (isReliable) {
        if (clock.monotonic() - lastScan >= timing.resyncMs && scan().length > 0) {
          isMonitorUnreliable = true
          log.warn('monitor_missed_events', {
            message: 'A full scan found changes without device events. The agent polls from now on.',
          })
        }
      } else {
        let current = stamp
        try {
          current = inventory.stamp()
        } catch {
          current = ''
        }
        // A problem is reported on its second scan, so scan again soon.
        const isUnsure = [...seen].some((key) => !reported.has(key))
        if (current !== stamp) {
          stamp = current
          onEvent()
        } else if (isUnsure || clock.monotonic() - lastScan >= timing.resyncMs) scan()
      }
    }
    schedule()
  }

  function schedule(): void {
    if (isStopped) return
    tick = setTimeout(onTick, isMonitored && !isMonitorUnreliable ? Math.min(timing.resyncMs, 5000) : timing.pollMs)
  }

  return {
    /** Runs the first scan, whose result is sent as inventory and not as changes, and starts watching. */
    start(): void {
      lastScan = clock.monotonic()
      isStarted = true
      try {
        const first = enforcedScan()
        devices = first.devices
        reportProblems(first)
      } catch (error) {
        reports.add('scan_failed', messageOf(error))
      }
      if (createMonitor !== undefined) {
        monitor = createMonitor({
          log,
          onEvent,
          onState: (isRunning) => {
            if (isStopped) return
            isMonitored = isRunning
            if (isRunning) log.info('monitor_started')
            clearTimeout(tick)
            schedule()
          },
        })
        monitor.start()
      }
      schedule()
    },
    /** Scans all devices now. Does nothing before the start. */
    rescan(): void {
      if (isStarted && !isStopped) scan()
    },
    /** Evaluates new devices now and reports them after the burst has settled. */
    checkNew(): void {
      if (isStarted && !isStopped && enforcement?.enforceNew()) onEvent()
    },
    /** Returns whether device events are reliable. If so, the watcher does not poll. */
    isMonitorReliable: (): boolean => isMonitored && !isMonitorUnreliable,
    /** Returns the devices of the last scan. */
    scanned: (): ScannedDevice[] => [...devices.values()],
    /** Returns the reports of the last scan in port order. */
    devices: (): DeviceReport[] => [...devices.values()].map((device) => device.report),
    stop(): void {
      isStopped = true
      clearTimeout(tick)
      clearTimeout(settling)
      monitor?.stop()
    },
  }
}
export type Watcher = ReturnType<typeof createWatcher>
