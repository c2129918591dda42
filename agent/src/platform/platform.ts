import type { DeviceReport, HostFacts } from '@portcullis/contract/agent-protocol.ts'
import type { BoundInterface, PolicyDevice } from '@portcullis/domain'
import type { Log } from '../log.ts'

/** A device as read, with the number of its attachment. */
export interface ScannedDevice {
  report: DeviceReport
  /** Differs between two attachments at the same port. Empty if unknown. */
  instance: string
}

/** A problem with one device. The caller reports it once per attachment. */
export interface ScanProblem {
  /** Empty if the problem concerns the whole scan. */
  portPath: string
  /** `descriptors_unreadable` is reported only if it persists for two scans. */
  code: string
  message: string
}

export interface Scan {
  /** By port path, in port order. */
  devices: Map<string, ScannedDevice>
  problems: ScanProblem[]
}

/** Reads the USB devices of the host. */
export interface Inventory {
  /** Returns the port paths of all devices except root hubs. Hubs come before their children. */
  ports(): string[]
  /** Returns one device, or undefined if it was removed or cannot be read. */
  read(portPath: string): ScannedDevice | undefined
  /** Reads all devices. A single device never makes it throw. */
  scan(): Scan
  /** Returns a text that changes when a full scan is needed. Much faster than a scan. */
  stamp(): string
}

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

export interface MonitorDeps {
  log: Log
  /** Called when devices may have changed, and when the monitor has started. It proves nothing, so the caller scans. */
  onEvent: () => void
  /** Called with true when the monitor runs and with false when it ended or could not start. */
  onState: (isRunning: boolean) => void
}

/** A source of device events. */
export interface Monitor {
  start(): void
  stop(): void
}

/** The current boot of the host. It orders changes in time even if the host clock jumps. */
export interface Boot {
  /** Identifies the boot. Empty if unknown. An unknown boot differs from every other boot. */
  id: string
  /** Milliseconds since the boot, including suspension. */
  elapsed(): number
}

export interface FactsDeps {
  agentVersion: string
  /** Returns the host's address on the connection to the server; empty before the first connection. */
  localAddress: () => string
  /** Returns the enforcement grade of the host and its reason. */
  enforcement: () => Grade
  /** Returns the fingerprint of the release key of this host; empty without one. */
  releaseKey: () => string
}

/** Collects the facts of the host and the hashes that identify the machine. */
export interface FactsCollector {
  collect(): HostFacts
  /** Returns null if the system does not provide it. */
  machineIdHash(): string | null
  smbiosHash(): string | null
}

/** The enforcement grade of a host and why it is not higher. The reason is empty for the highest grade of the system. */
export interface Grade {
  grade: HostFacts['enforcement']
  reason: string
}

/** Result of a change to a device: verified by reading back, device removed, or refused with a reason. */
export type WriteOutcome = { kind: 'done' } | { kind: 'gone' } | { kind: 'refused'; reason: string }

/** Blocks and allows devices. Every write is verified by reading it back. */
export interface Gate {
  /** Returns the names of the switches that decide about new devices, such as one for each USB controller. */
  switches(): string[]
  /** Returns the value of a switch: `0` blocks new devices. Undefined if the switch does not exist. */
  default(name: string): string | undefined
  /** @throws if the system refuses the value or keeps another one */
  setDefault(name: string, value: string): void
  /**
   * Returns the names of the switches that do not block new devices although the host is armed. A host with such a
   * switch is not armed.
   */
  open(): string[]
  /** Returns undefined if the device was removed or the system cannot block it. */
  isAuthorized(portPath: string): boolean | undefined
  /** Differs between two attachments at the same port. Empty if unknown. */
  instance(portPath: string): string
  /** Returns the switch for interfaces that a device at this port gets after its authorisation. */
  interfaceSwitch?(portPath: string): string
  setAuthorized(portPath: string, isAllowed: boolean): WriteOutcome
  /** Remembers the active configuration of a device that works. `setAuthorized` restores it. */
  noteConfiguration?(portPath: string): void
  /**
   * True if the switches keep their values while the agent is stopped and after a restart of the host. Only Free and
   * `release` open them.
   */
  isLasting?: true
  /**
   * Completes a full pass on a system that also stores state of detached devices.
   *
   * @param stillPasses returns whether a detached device would still be allowed
   * @returns problems to report
   */
  settle?(attached: readonly SettledDevice[], stillPasses: (known: KnownDevice) => boolean): string[]
  /** Returns whether `settle` has work left, so that another pass is needed. */
  isUnsettled?(): boolean
  grade(): Grade
}

/** A device without its attachment. */
export interface KnownDevice {
  /** Port, fingerprint without revision, and serial number (`IdentifiedDevice.key`). */
  key: string
  device: PolicyDevice
}

/** An attached device after a full pass. */
export interface SettledDevice extends KnownDevice {
  portPath: string
  /** Whether the policy or a guard lets it work. False for a device that works because it could not be blocked. */
  passes: boolean
}

/** An interface of an attached device with its driver. */
export interface DeviceInterface extends BoundInterface {
  /** Name in the system, for example `1-3:1.0`. */
  name: string
  isAuthorized: boolean
}

export interface InterfaceToOpen {
  name: string
  /** Names of drivers in the order to try, or `any` for all drivers of the system. */
  wanted: readonly string[] | 'any'
  /** Tries the drivers of the system that the table does not know after those. */
  mayBeUnknown?: boolean
}

/** Controls which drivers bind to the interfaces of a device. */
export interface Interfaces {
  /** Returns the interfaces of a device by number; empty while the device is not authorised. */
  of(portPath: string): DeviceInterface[]
  /** Returns a text for each port that changes when a driver binds or unbinds. */
  stamps(): Map<string, string>
  /**
   * Authorises interfaces of a device, and then binds each to the first driver that accepts it.
   *
   * @param mayGoOn called after each interface. If it returns false, those that have no driver yet are closed again.
   */
  open(toOpen: readonly InterfaceToOpen[], mayGoOn?: () => boolean): void
  /** Returns the port path of the same socket on the bus of the other speed. */
  peerOf(portPath: string): string | undefined
}

/** For systems on which the agent cannot block devices. */
export const observeOnly = (reason: string): Gate => ({
  switches: () => [],
  default: () => undefined,
  setDefault: () => {
    throw new Error(reason)
  },
  open: () => [],
  isAuthorized: () => undefined,
  instance: () => '',
  setAuthorized: () => ({ kind: 'refused', reason }),
  grade: () => ({ grade: 'observe', reason }),
})

/** For systems without control over single interfaces. */
export const noInterfaces: Interfaces = {
  of: () => [],
  stamps: () => new Map(),
  open: () => undefined,
  peerOf: () => undefined,
}

/** The programs of the host that watch for devices. They use a new device at once, and do not try again if it is blocked. */
export interface Programs {
  /**
   * Publishes which attachments are decided, by port. Programs see a new device only then.
   *
   * @param decided undefined if the host blocks nothing
   */
  publish(decided: ReadonlyMap<string, string> | undefined): void
  /** Call before a blocked device is authorised. Announces its removal to programs that saw it. */
  withdraw(portPath: string): void
  /** Announces a device that was authorised and whose interfaces are open. */
  announce(portPath: string): void
}

/** Devices that the host needs. Read again on each call, just before a device is blocked. */
export interface HostNeeds {
  /** Returns the number of keyboards without a USB port (internal, PS/2). */
  otherKeyboards(): number
  /** Returns the ports of the disks that the system runs from, and of the hubs above them. */
  bootPorts(): ReadonlySet<string>
  /** Returns the number of pointing devices without a USB port. Undefined if the guard does not apply to the system. */
  otherPointers?(): number
  /** Returns the ports of wireless adapters with paired keyboards or pointing devices. */
  inputRadios?(): ReadonlySet<string>
}

export interface WatchdogDeps {
  /** Program and arguments of this agent. If undefined, no watchdog is started. */
  self: readonly string[] | undefined
  stateDir: string
  log: Log
}

/** Restores the defaults of the system if the agent crashes. */
export interface Watchdog {
  start(): void
  /** Ends the watchdog without a restore. */
  end(): void
}

/** For systems that need none. */
export const noWatchdog: Watchdog = { start: () => undefined, end: () => undefined }

/** Identifies running processes, because a process ID can be reused. */
export interface Processes {
  /** Returns the start time of a process in any form. Empty for a process that has ended. */
  startTime(pid: number): string
  /** Identifies the boot; empty if the start time identifies it too. */
  boot(): string
}

/** Protects the private key on disk. */
export interface Secrets {
  /** Returns the text to store. */
  seal(secret: string): string
  /** @throws if the text was changed or belongs to another machine */
  open(stored: string): string
}

/** Signs texts as this agent. */
export interface Signer {
  agentId: string
  /** Returns the base64 signature over a text. */
  sign(text: string): string
}

/** For systems on which the permissions of the file protect the key. */
export const noSealing: Secrets = { seal: (secret) => secret, open: (stored) => stored }

/** An installation whose launcher starts the newest verified version. */
export interface Installation {
  /** Path of the build that updates install. */
  executable: string
  /** Path of the running build. */
  running: string
  /** Program that runs builds, which are scripts. */
  interpreter: string
}

/** The parts of the agent that depend on the operating system. No other part of the agent knows the system. */
export interface Platform {
  inventory: Inventory
  /** Creates the source of device events. If undefined, the agent polls. */
  monitor: ((deps: MonitorDeps) => Monitor) | undefined
  /** Intervals of polls and scans, if the defaults do not fit the system. */
  timing?: WatcherTiming
  facts(deps: FactsDeps): FactsCollector
  boot: Boot
  gate: Gate
  interfaces: Interfaces
  needs: HostNeeds
  /** Undefined if programs need no information from the agent. */
  programs?: Programs
  watchdog(deps: WatchdogDeps): Watchdog
  /** Shows a text to the users of the host. If undefined, no user is notified. */
  showMessage: ((text: string, onFailure: (message: string) => void) => void) | undefined
  /** Receives each line of the log, for a system log other than standard error. */
  record?: (line: string) => void
  /** Directory where users of the host can read which devices are blocked. */
  publicDir: string | undefined
  secrets: Secrets
  /**
   * Creates the state directory if necessary and makes it private.
   *
   * @throws an error with the reason if it cannot be used
   */
  prepareStateDir(dir: string): void
  /** Answers requests in the state directory that are specific to this system. Never throws. */
  answerRequest?(agent: { stateDir: string; version: string; signer: Signer }): void
  /** Architecture of the builds that this host installs, as in a signed build. */
  architecture: string
  /** Returns where updates go if the files of the installation never change. If undefined, updates replace the executable. */
  installation?(stateDir: string): Installation
}

/** Settings that exist only on some operating systems. */
export const systemSettings = [
  'sysfs-root',
  'proc-root',
  'etc-root',
  'monitor-command',
  'notify-command',
  'public-dir',
] as const
export type SystemSetting = (typeof systemSettings)[number]

export type SystemSettings = Readonly<Partial<Record<SystemSetting, string>>>

export type Environment = Readonly<Record<string, string | undefined>>

/** The properties of the operating system that the program needs before it reads its settings. */
export interface System {
  /** Default directory of keys, spool and log. */
  stateDir: string
  /** Settings that exist only on this system. */
  settings: readonly SystemSetting[]
  /** Help text of the commands that exist only on this system. */
  commands?: string
  /** Returns whether only root and the owner, which is root or this user, can read an open file. */
  isPrivate(fd: number): boolean
  processes: Processes
  /** Calls the handler when root asks a running agent to read its state directory. Returns a function that stops it. */
  onRequest(handler: () => void): () => void
  /** Asks a running agent to read its state directory. */
  request(pid: number): void
  /** Starts the replaced program, unless a service manager does it. */
  restart(program: string, env: Environment): void
  /** Returns whether the service manager runs this program because the agent ended. */
  isAfterEnd(env: Environment): boolean
  create(settings: SystemSettings): Platform
}
