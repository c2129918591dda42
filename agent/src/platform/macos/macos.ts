import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { hostname, release, uptime } from 'node:os'
import { machineHash, macosPortPath, POSIX_COMMAND, type Reading, readPoll } from '@portcullis/domain'
import { withinLimits } from '../../collectors/ports.ts'
import { cutText } from '../../collectors/text.ts'
import {
  noInterfaces,
  noSealing,
  noWatchdog,
  observeOnly,
  type Platform,
  type Processes,
  type Scan,
  type System,
} from '../platform.ts'
import { posixSystem, preparePrivateDir } from '../posix.ts'

/** Runs a program and returns its output. Throws if it fails. */
export type Run = (program: string, args: readonly string[]) => Buffer

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024

const runProgram: Run = (program, args) =>
  execFileSync(program, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 60_000,
    maxBuffer: MAX_OUTPUT_BYTES,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
  })

/** A build for Linux must not count as one for a Mac. */
const ARCHITECTURE = `macos-${process.arch}`

const gate = observeOnly('The agent for macOS only monitors.')

/**
 * The system notifies no process without a driver of its own, so the agent polls. A poll runs `ioreg` alone; a scan also
 * runs `system_profiler`, which takes a second.
 */
const timing = { pollMs: 5_000, resyncMs: 600_000, settleMs: 1_000, settleMaxMs: 10_000 }

/** Property lists escape `<` in the texts of devices, so no device can add an entry. `ioreg -a` sorts the keys. */
const ENTRY =
  /<key>IORegistryEntryID<\/key>\s*<integer>(\d{1,20})<\/integer>(?:\s*<key>IORegistryEntryLocation<\/key>\s*<string>([0-9a-f]{1,8})<\/string>)?/g

/** Returns the id of each entry in the USB plane and, if it has a port, its port path. */
const entriesOf = (output: string): { id: string; portPath: string | undefined }[] =>
  [...output.matchAll(ENTRY)].map(([, id = '', location]) => ({
    id,
    portPath: location === undefined ? undefined : macosPortPath(Number.parseInt(location, 16)),
  }))

/** Reads the devices and facts of a Mac with the commands and the parser of agentless hosts. */
const createPlatform = (run: Run): Platform => {
  let last: Extract<Reading, { ok: true }> | undefined

  function read(): Extract<Reading, { ok: true }> {
    const { platform, reading } = readPoll(run('/bin/sh', ['-c', POSIX_COMMAND]))
    if (!reading.ok) throw new Error(`The agent cannot read the USB devices of this Mac: ${reading.message}.`)
    if (platform !== 'macos') throw new Error('The agent for macOS runs only on macOS.')
    last = reading
    return reading
  }

  const entries = () => entriesOf(run('/usr/sbin/ioreg', ['-a', '-p', 'IOUSB']).toString('utf8'))

  function scan(): Scan {
    const instances = new Map(entries().map(({ id, portPath }) => [portPath, id]))
    const { devices: reports, leftOut } = read()
    return withinLimits(
      reports.map((report) => ({ report, instance: instances.get(report.portPath) ?? '' })),
      leftOut,
    )
  }

  /** Returns the output of a command as one line, or an empty string if the command fails. */
  function line(program: string, ...args: string[]): string {
    try {
      return run(program, args).toString('utf8').trim()
    } catch {
      return ''
    }
  }

  return {
    inventory: {
      scan,
      stamp: () =>
        entries()
          .map(({ id }) => id)
          .join(' '),
      ports: () => (last?.devices ?? []).map(({ portPath }) => portPath),
      read: (portPath) => scan().devices.get(portPath),
    },
    monitor: undefined,
    facts: ({ agentVersion, localAddress, releaseKey }) => ({
      collect: () => {
        let known = last
        try {
          known ??= read()
        } catch {
          // The first scan reports the error. The host can enrol without these facts.
        }
        const unknown = { osVersion: '', vendor: 'Apple Inc.', model: '', chassis: '', sku: '', nics: [] }
        return {
          ...unknown,
          hostname: cutText(hostname() || 'localhost', 255),
          osName: 'macOS',
          kernel: cutText(release(), 120),
          ...known?.facts,
          architecture: ARCHITECTURE,
          address: cutText(localAddress(), 64),
          agentVersion: cutText(agentVersion, 64),
          enforcement: gate.grade().grade,
          enforcementReason: gate.grade().reason,
          releaseKey: releaseKey(),
        }
      },
      machineIdHash: () => {
        const output = line('/usr/sbin/ioreg', '-rd1', '-c', 'IOPlatformExpertDevice')
        return machineHash(/"IOPlatformUUID" = "([0-9A-Fa-f-]{36})"/.exec(output)?.[1])
      },
      smbiosHash: () => null,
    }),
    boot: {
      id: line('/usr/sbin/sysctl', '-n', 'kern.bootsessionuuid'),
      elapsed: () => Math.round(uptime() * 1_000),
    },
    gate,
    interfaces: noInterfaces,
    needs: { otherKeyboards: () => 0, bootPorts: () => new Set() },
    watchdog: () => noWatchdog,
    showMessage: undefined,
    publicDir: undefined,
    secrets: noSealing,
    prepareStateDir: preparePrivateDir,
    architecture: ARCHITECTURE,
    timing,
  }
}

const processes: Processes = {
  /** Keeps the output independent of the language and time zone of the caller. */
  startTime: (pid) =>
    spawnSync('/bin/ps', ['-o', 'lstart=', '-p', `${pid}`], {
      env: { LC_ALL: 'C', TZ: 'UTC' },
      encoding: 'utf8',
    }).stdout?.trim() ?? '',
  boot: () => '',
}

export const createMacos = (run: Run = runProgram): System => ({
  ...posixSystem,
  stateDir: '/var/lib/portcullis-agent',
  settings: [],
  processes,
  // The LaunchDaemon starts the agent again.
  restart: (program) => void spawn(program, process.argv.slice(2), { stdio: 'ignore', detached: true }).unref(),
  isAfterEnd: () => false,
  create: () => createPlatform(run),
})

export const macos = createMacos()
