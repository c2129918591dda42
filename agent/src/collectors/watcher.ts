import type { DeviceChange, DeviceReport } from '@portcullis/contract/agent-protocol'
import type { Clock } from '../clock.ts'
import { messageOf } from '../exit.ts'
import type { Log } from '../log.ts'
import type { Reports } from '../reports.ts'
import { diffDevices } from './diff.ts'
import { createMonitor, type Monitor } from './monitor.ts'
import type { Scan, ScannedDevice, SysfsCollector } from './sysfs.ts'

export interface WatcherTiming {
  /** Interval of polls while the monitor is unreliable. */
  pollMs: number
  /** Interval of full scans while the monitor works. */
  resyncMs: number
  /** Time without events that ends a burst. */
  settleMs: number
  /** Maximum duration of a burst, so that one flapping device does not hide the others. */
  settleMaxMs: number
}

export const watcherTiming: WatcherTiming = { pollMs: 500, resyncMs: 30_000, settleMs: 50, settleMaxMs: 500 }

export interface WatcherDeps {
  sysfs: Pick<SysfsCollector, 'scan' | 'stamp'>
  /** Command of the kernel event monitor. If undefined, the watcher only polls. */
  monitorCommand: readonly string[] | undefined
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  /** Called with the changes of one scan, in order and never empty, before `devices()` returns the new state. */
  onChanges: (changes: DeviceChange[]) => void
  /** Applies the policy to the kernel. */
  enforcement?: {
    /** Judges a full scan. Returns true if it changed devices, which must then be read again. */
    enforce: (devices: ReadonlyMap<string, ScannedDevice>) => boolean
    /** Judges new devices before the burst has settled. */
    enforceNew: () => boolean
    enforced: (report: DeviceReport) => DeviceReport['enforced']
    /** Returns the drivers that are not allowed for a device. */
    mismatch: (device: ScannedDevice) => DeviceReport['mismatch']
  }
  timing?: WatcherTiming
}

/** Watches the host's devices. Events and polls trigger full scans; only a scan determines the devices. */
export const createWatcher = ({
  sysfs,
  monitorCommand,
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
    stamp = sysfs.stamp()
    let result = sysfs.scan()
    if (enforcement?.enforce(result.devices)) {
      stamp = sysfs.stamp()
      result = sysfs.scan()
    }
    for (const device of result.devices.values()) {
      const enforced = enforcement?.enforced(device.report)
      const mismatch = enforcement?.mismatch(device)
      if (enforced !== undefined) device.report.enforced = enforced
      if (mismatch !== undefined) device.report.mismatch = mismatch
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
        moved = sysfs.stamp() !== stamp
      } catch {
        // The scan below reports the same error.
      }
      if (moved && clock.monotonic() - burstSince < timing.settleMaxMs) {
        stamp = sysfs.stamp()
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
            message: 'A full scan found changes without kernel events. The agent polls from now on.',
          })
        }
      } else {
        let current = stamp
        try {
          current = sysfs.stamp()
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
      if (monitorCommand !== undefined) {
        monitor = createMonitor({
          command: monitorCommand,
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
    /** Judges new devices now and reports them after the burst has settled. */
    checkNew(): void {
      if (isStarted && !isStopped && enforcement?.enforceNew()) onEvent()
    },
    /** Returns whether kernel events are reliable, so that polling is not needed. */
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
