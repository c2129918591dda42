import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { describeKernelTree, describeSysfs } from '@portcullis/domain/testing'
import { onTestFinished } from 'vitest'
import { type AgentDeps, type AgentTiming, agentTiming, runAgent } from '../src/agent.ts'
import { systemClock } from '../src/clock.ts'
import { loadConfig } from '../src/config.ts'
import { createLog } from '../src/log.ts'
import { linux } from '../src/platform/linux/linux.ts'
import type { Boot, System } from '../src/platform/platform.ts'
import { statusText } from '../src/status.ts'
import { temporaryDir } from './temporary-dir.ts'

export { temporaryDir }

/** Creates a fake `/sys` with the same devices, directories and links as in a kernel. Creates `root` by default. */
export const createKernelTree = (devices: readonly DeviceReport[], root = temporaryDir()): string => {
  for (const [path, content] of describeKernelTree(devices)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, join(root, path))
    else writeFileSync(join(root, path), content)
  }
  return root
}

/** Creates a fake `/sys` on which devices can be attached and removed. */
export const createTree = (devices: readonly DeviceReport[] = []) => {
  const root = temporaryDir()
  // Unlike a kernel, a copied tree does not block a new device itself, so this function applies the controller's default.
  let devnum = 1
  const write = (path: string, content: Buffer | string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const tree = {
    root,
    dir: (portPath: string) => join(root, 'bus/usb/devices', portPath),
    /** Attaches a device as the kernel does: with an unused `devnum` and the controller's default authorisation. */
    plug(device: DeviceReport) {
      devnum++
      const bus = `usb${Number.parseInt(device.portPath, 10)}`
      const path = join(tree.dir(bus), 'authorized_default')
      const isHeld = statSync(path, { throwIfNoEntry: false })?.isFile() && tree.read(bus, 'authorized_default') === '0'
      const names = new Set<string>()
      for (const [path, content] of describeSysfs([isHeld ? { ...device, authorized: false } : device])) {
        const [, name = '', rest = ''] = /^bus\/usb\/devices\/([^/]+)\/(.*)$/.exec(path) ?? []
        if (!name.startsWith(device.portPath)) continue
        names.add(name)
        write(join('attaching', name, rest), rest === 'devnum' ? `${devnum}\n` : content)
      }
      // Rename the complete directories, because a kernel never shows a partial device.
      for (const name of [...names].sort().reverse()) {
        rmSync(tree.dir(name), { recursive: true, force: true })
        mkdirSync(dirname(tree.dir(name)), { recursive: true })
        renameSync(join(root, 'attaching', name), tree.dir(name))
      }
    },
    unplug(portPath: string) {
      for (const name of readdirSync(join(root, 'bus/usb/devices')))
        if (name === portPath || name.startsWith(`${portPath}:`))
          rmSync(tree.dir(name), { recursive: true, force: true })
    },
    /** Adds a loaded driver. Its `bind` file receives the names of interfaces. */
    load: (driver: string) => write(join('bus/usb/drivers', driver, 'bind'), ''),
    /** Binds a driver to an interface (`1-2:1.0`), and drivers to the HID devices below it, as the kernel shows it. */
    bind(name: string, driver: string, ...hid: string[]) {
      const dir = tree.dir(name)
      if (!existsSync(dir)) write(join('bus/usb/devices', name, 'authorized'), '1\n')
      symlinkSync(`../../drivers/${driver}`, join(dir, 'driver'))
      for (const [index, one] of hid.entries()) {
        const child = join(dir, `0003:046D:C31C.000${index}`)
        mkdirSync(child, { recursive: true })
        symlinkSync(`../../../../hid/drivers/${one}`, join(child, 'driver'))
      }
    },
    read: (device: string, name: string) => readFileSync(join(tree.dir(device), name), 'latin1').trim(),
    devnum: (portPath: string) => (existsSync(tree.dir(portPath)) ? tree.read(portPath, 'devnum') : ''),
    isAuthorized: (portPath: string) => tree.read(portPath, 'authorized') === '1',
    write: (portPath: string, name: string, content: Buffer | string) =>
      write(join('bus/usb/devices', portPath, name), content),
  }
  for (const [path, content] of describeSysfs([])) write(path, content)
  for (const device of devices) tree.plug(device)
  return tree
}

/** Timing with short waits: the agent retries after 10 to 50 ms instead of seconds. */
const quickTiming: AgentTiming = {
  ...agentTiming,
  loop: {
    backoff: { minMs: 20, maxMs: 50 },
    unknownBackoff: { minMs: 20, maxMs: 50 },
    supersededMemoryMs: 60_000,
  },
  watcher: { pollMs: 20, resyncMs: 1000, settleMs: 10, settleMaxMs: 100 },
  enforcement: { fastPollMs: 20, tickMs: 20, refreshMs: 20 },
}

/** Starts an agent in this process and stops it after the test. */
export const startAgent = (
  args: readonly string[],
  {
    clock = systemClock,
    timing = quickTiming,
    version = '0.0.1-test',
    builtInKey,
    system = linux,
    boot,
  }: Partial<Omit<AgentDeps, 'config' | 'createLog' | 'system' | 'platform'>> & { system?: System; boot?: Boot } = {},
) => {
  const stop = new AbortController()
  const lines: string[] = []
  const config = loadConfig(args, {}, system)
  const done = runAgent(
    {
      config,
      version,
      clock,
      builtInKey,
      system,
      platform: { ...system.create(config.system), ...(boot === undefined ? {} : { boot }) },
      createLog: (dir) => createLog({ clock, level: 'debug', dir, write: (line) => lines.push(line) }),
      timing,
    },
    stop.signal,
  ).then(
    () => undefined,
    (error: unknown) => (stop.signal.aborted ? undefined : error),
  )
  const end = async () => {
    stop.abort()
    return done
  }
  onTestFinished(async () => {
    await end()
  })
  return { done, stop: end, lines }
}

/** Returns what `portcullis-agent status` prints on Linux. */
export const statusOf = (args: readonly string[]): string => {
  const config = loadConfig(['status', ...args], {}, linux)
  return statusText({ stateDir: config.stateDir, system: linux, platform: linux.create(config.system) })
}

/** Waits for a condition. Fails the test with the name of the condition after the deadline. */
export const until = async (what: string, condition: () => boolean, deadlineMs = 15_000): Promise<void> => {
  const end = performance.now() + deadlineMs
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
