import type { DeviceChange, DeviceReport } from '@portcullis/contract/agent-protocol'
import type { Clock } from '../clock.ts'
import { messageOf } from '../exit.ts'
import type { Log } from '../log.ts'
import type { Reports } from '../reports.ts'
import { diffDevices } from './diff.ts'
import { createMonitor, type Monitor } from './monitor.ts'
import type { Scan, ScannedDevice, SysfsCollector } from './sysfs.ts'

export interface WatcherTiming {
  /** Poll of the stamp while no monitor can be relied on. */
  pollMs: number
  /** Full scan while the monitor works. */
  resyncMs: number
  /** Quiet time that ends a burst. */
  settleMs: number
  /** A burst is cut after this long: a device that never rests must not hide the others. */
  settleMaxMs: number
}

export const watcherTiming: WatcherTiming = { pollMs: 500, resyncMs: 30_000, settleMs: 50, settleMaxMs: 500 }

export interface WatcherDeps {
  sysfs: Pick<SysfsCollector, 'scan' | 'stamp'>
  /** Command of the kernel event monitor; undefined: poll only. */
  monitorCommand: readonly string[] | undefined
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  /** Changes of one scan, in order, never empty. Called before `devices()` shows the new state to anybody. */
  onChanges: (changes: DeviceChange[]) => void
  /** Makes the kernel follow the policy. */
  enforcement?: {
    /** Judges a full scan; true when devices were changed by it, so that they have to be read again. */
    enforce: (devices: ReadonlyMap<string, ScannedDevice>) => boolean
    /** Judges what just came, before the burst has settled. */
    hurry: () => boolean
    enforced: (report: DeviceReport) => DeviceReport['enforced']
    /** Drivers that are not allowed for a device. */
    mismatch: (device: ScannedDevice) => DeviceReport['mismatch']
  }
  timing?: WatcherTiming
}

/** Keeps the picture of the host's devices: events and polls say when to look, a full scan says what is there. */
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
  let isDeaf = false
  let isStarted = false
  let isStopped = false
  let monitor: Monitor | undefined
  let tick: NodeJS.Timeout | undefined
  let settling: NodeJS.Timeout | undefined
  let burstSince = 0
  let lastScan = 0
  /** Problems seen in the last scan, and those already told: both by attachment, so that a replug is told again. */
  let seen = new Set<string>()
  let told = new Set<string>()

  function tellProblems(scan: Scan): void {
    const now = new Set<string>()
    const stillTold = new Set<string>()
    for (const problem of scan.problems) {
      const key = `${problem.portPath} ${scan.devices.get(problem.portPath)?.instance ?? ''} ${problem.code}`
      now.add(key)
      // Unreadable for one scan may be a device that is just coming or going.
      const isDue = problem.code !== 'descriptors_unreadable' || seen.has(key)
      if (isDue && !told.has(key)) reports.add(problem.code, problem.message)
      if (isDue || told.has(key)) stillTold.add(key)
    }
    seen = now
    told = stillTold
  }

  /** One look at everything; what the policy changes by it is read again. */
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
      if (!told.has(key)) reports.add('scan_failed', messageOf(error))
      told.add(key)
      return []
    }
    const changes = diffDevices(devices, result.devices, clock.now())
    if (changes.length > 0) onChanges(changes)
    devices = result.devices
    tellProblems(result)
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
        // The scan below meets the same error and tells it.
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
    enforcement?.hurry()
    if (settling === undefined) burstSince = clock.monotonic()
    if (settling === undefined || clock.monotonic() - burstSince < timing.settleMaxMs) settle()
  }

  function onTick(): void {
    const isRelied = isMonitored && !isDeaf
    if (settling === undefined) {
      if (isRelied) {
        if (clock.monotonic() - lastScan >= timing.resyncMs && scan().length > 0) {
          isDeaf = true
          log.warn('monitor_deaf', {
            message: 'A resync found what the monitor did not announce; polling from now on.',
          })
        }
      } else {
        let current = stamp
        try {
          current = sysfs.stamp()
        } catch {
          current = ''
        }
        // A problem is told on its second scan: look again rather than wait for the next full one.
        const isUnsure = [...seen].some((key) => !told.has(key))
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
    tick = setTimeout(onTick, isMonitored && !isDeaf ? Math.min(timing.resyncMs, 5000) : timing.pollMs)
  }

  return {
    /** Takes the first picture (told as inventory, not as changes) and starts watching. */
    start(): void {
      lastScan = clock.monotonic()
      isStarted = true
      try {
        const first = enforcedScan()
        devices = first.devices
        tellProblems(first)
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
            log.info(isRunning ? 'monitor_started' : 'monitor_lost_polling')
            clearTimeout(tick)
            schedule()
          },
        })
        monitor.start()
      }
      schedule()
    },
    /** Looks at everything now; nothing before the start. */
    look(): void {
      if (isStarted && !isStopped) scan()
    },
    /** Something may have come: judges it now, and tells of it once the burst has settled. */
    hint(): void {
      if (isStarted && !isStopped && enforcement?.hurry()) onEvent()
    },
    /** Whether kernel events are relied on, so that nobody has to poll for what came. */
    isRelied: (): boolean => isMonitored && !isDeaf,
    /** The devices of the last scan, as scanned. */
    scanned: (): ScannedDevice[] => [...devices.values()],
    /** The devices of the last scan in port order. */
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
