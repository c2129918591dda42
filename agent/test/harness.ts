import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DeviceReport } from '@portcullis/contract/agent-protocol'
import { describeKernelTree, describeSysfs } from '@portcullis/domain/testing'
import { onTestFinished } from 'vitest'
import { type AgentDeps, type AgentTiming, agentTiming, runAgent } from '../src/agent.ts'
import { systemClock } from '../src/clock.ts'
import { loadConfig } from '../src/config.ts'
import { createLog } from '../src/log.ts'

/** A directory that goes with the test. */
export const temporaryDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-agent-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Creates a fake `/sys` with the same devices, directories and links as in a kernel. Creates `root` by default. */
export const createKernelTree = (devices: readonly DeviceReport[], root = temporaryDir()): string => {
  for (const [path, content] of describeKernelTree(devices)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, join(root, path))
    else writeFileSync(join(root, path), content)
  }
  return root
}

/** A fake `/sys` whose devices come and go. */
export const createTree = (devices: readonly DeviceReport[] = []) => {
  const root = temporaryDir()
  // What a copied tree cannot do, a kernel does: a device that comes is held back when its controller says so.
  let devnum = 1
  const write = (path: string, content: Buffer | string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const tree = {
    root,
    dir: (portPath: string) => join(root, 'bus/usb/devices', portPath),
    /** Attaches as the kernel does: with a `devnum` never used before on this tree, authorised as the controller says. */
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
      // At once, interfaces before their device: a kernel shows no half of one.
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
    /** A driver as the kernel has it loaded; what is written to its `bind` is the name of an interface. */
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
    isAuthorized: (portPath: string) => tree.read(portPath, 'authorized') === '1',
    write: (portPath: string, name: string, content: Buffer | string) =>
      write(join('bus/usb/devices', portPath, name), content),
  }
  for (const [path, content] of describeSysfs([])) write(path, content)
  for (const device of devices) tree.plug(device)
  return tree
}

/** Real machinery with short waits: a retry after 10 to 50 ms instead of seconds. */
const quickTiming: AgentTiming = {
  ...agentTiming,
  loop: {
    backoff: { minMs: 20, maxMs: 50 },
    unknownBackoff: { minMs: 20, maxMs: 50 },
    supersededMemoryMs: 60_000,
  },
  watcher: { pollMs: 20, resyncMs: 1000, settleMs: 10, settleMaxMs: 100 },
  enforcement: { hurryMs: 20, tickMs: 20, freshenMs: 20 },
}

/** An agent in this process; it is stopped with the test. */
export const startAgent = (
  args: readonly string[],
  {
    clock = systemClock,
    timing = quickTiming,
    version = '0.0.1-test',
    builtInKey,
  }: Partial<Omit<AgentDeps, 'config' | 'createLog'>> = {},
) => {
  const stop = new AbortController()
  const lines: string[] = []
  const done = runAgent(
    {
      config: loadConfig(args, {}),
      version,
      clock,
      builtInKey,
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

/** Polls a condition; fails the test with its name after the deadline. */
export const until = async (what: string, condition: () => boolean, deadlineMs = 15_000): Promise<void> => {
  const end = performance.now() + deadlineMs
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
