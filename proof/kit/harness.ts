import { type ChildProcess, spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeSysfs } from '@portcullis/domain/testing'
import type { Agent, AgentDetail, DeviceReport, FleetEvent, Peripheral } from '@portcullis/features/contract.ts'
import { nodeFlags } from '../../agent/src/node-flags.ts'
import { codeCache } from '../../server/test/code-cache.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const adminPassword = 'correct horse battery staple'

/** Waits for a value and fails with `what` after the deadline. Returns the value and the time it took. */
export const until = async <T>(
  what: string,
  look: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  deadlineMs = 30_000,
): Promise<{ value: T; ms: number }> => {
  const startedAt = performance.now()
  for (;;) {
    const value = await look()
    const ms = performance.now() - startedAt
    if (value !== undefined && value !== false && value !== null) return { value, ms }
    if (ms > deadlineMs) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Creates a folder that other users can traverse, because the database of a root server belongs to another user. */
export const temporaryDir = (): string => mkdtempSync(join(tmpdir(), 'portcullis-e2e-'))
export const remove = (dir: string): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 })

export interface Started {
  child: ChildProcess
  /** Returns all output. */
  output(): string
  /** Resolves to the exit code. */
  ended: Promise<number | null>
}

/** Starts a script of this repository as a process. */
export const start = (
  script: string,
  args: readonly string[],
  env: Record<string, string>,
  flags: readonly string[] = [],
): Started => {
  const child = spawn(process.execPath, [...flags, join(root, script), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', ...codeCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
  const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)))
  // Kills the process however the tests end.
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  void ended.then(() => process.removeListener('exit', kill))
  return { child, output: () => text, ended }
}

const servers: { server: Started; told: number }[] = []
const violations: string[] = []

/** Keeps a log line of a server in this process if it says that a response violates the contract. */
export const noteAnswers = (line: string): void => {
  if (line.includes('does not match the contract')) violations.push(line)
}

/** Returns the responses of all servers that violated the contract since the last call, from their logs. */
export const brokenAnswers = (): string[] => [
  ...violations.splice(0),
  ...servers.flatMap((one) => {
    const lines = one.server.output().split('\n')
    const from = one.told
    // The last line may be incomplete.
    one.told = Math.max(0, lines.length - 1)
    return lines.slice(from, one.told).filter((line) => line.includes('does not match the contract'))
  }),
]

/** Starts the real server, which may refuse to start. */
export const spawnServer = (dataDir: string, env: Record<string, string> = {}): Started => {
  const server = start('server/src/entry/start.ts', [], {
    PORTCULLIS_DATA_DIR: dataDir,
    PORTCULLIS_PORT: '0',
    PORTCULLIS_LOG_LEVEL: 'warn',
    PORTCULLIS_VALIDATE_RESPONSES: '1',
    // Mail servers, directories and receivers of tests run on this machine.
    PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8,::1',
    ...env,
  })
  servers.push({ server, told: 0 })
  return server
}

export type ServerCalls = ReturnType<typeof clientOf>

/** Returns the calls of the interface at `url`. The first one signs in. */
export const clientOf = (url: string) => {
  const request = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(url + path, init)
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  let token = ''
  const signIn = async (username = 'admin', password = adminPassword): Promise<string> => {
    const answer = await request('/prime/webui/Auth/LocalLogin', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    })
    if (answer.status !== 200) throw new Error(`sign-in: ${answer.status} ${answer.text}`)
    token = (JSON.parse(answer.text) as { token: string }).token
    return token
  }
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    if (token === '') await signIn()
    const send = () =>
      request(`/prime/webui/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    let answer = await send()
    // A session is fresh for five minutes, and tests on a busy machine take longer.
    if (answer.status === 401 && answer.text.includes('reauthentication_required')) {
      await signIn()
      answer = await send()
    }
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return JSON.parse(answer.text) as T
  }
  return {
    url,
    request,
    signIn,
    get: <T>(path: string) => call<T>('GET', path),
    post: <T>(path: string, body: unknown) => call<T>('POST', path, body),
    put: <T>(path: string, body: unknown) => call<T>('PUT', path, body),
    agents: async (query = '') => (await call<{ data: Agent[] }>('GET', `agents?PageSize=1000${query}`)).data,
    agent: (agentId: string) => call<AgentDetail>('GET', `agents/agent/${agentId}`),
    peripherals: async (agentId: string) =>
      (await call<{ data: Peripheral[] }>('GET', `peripherals/${agentId}?PageSize=2000`)).data,
    events: async (from = 0) =>
      (await call<{ data: FleetEvent[] }>('GET', `events/GetEventsIntegration?PageSize=10000&FromEventId=${from}`))
        .data,
    enrolmentToken: async () =>
      (await call<{ token: string }>('POST', 'agents/enrollmenttokens', { name: 'e2e', maxUses: 10_000 })).token,
  }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>

/** Starts the real server and waits until it prints its address. */
export const startServer = async (
  dataDir: string,
  env: Record<string, string> = { PORTCULLIS_ADMIN_PASSWORD: adminPassword },
) => {
  const server = spawnServer(dataDir, env)
  const startedAt = performance.now()
  let exited = false
  server.ended.then(() => {
    exited = true
  })
  const { value: url } = await until(
    'the server is up',
    () => {
      if (exited) throw new Error(`the server ended:\n${server.output()}`)
      return /Portcullis is at (http\S+)/.exec(server.output())?.[1]
    },
    60_000,
  )
  return {
    ...server,
    ...clientOf(url),
    startMs: performance.now() - startedAt,
    /** Stops the server as Ctrl+C does and returns its exit code. */
    stop: async (): Promise<number | null> => {
      server.child.kill('SIGTERM')
      return server.ended
    },
  }
}

/** Creates a fake `/sys` on which devices can be attached and removed, with a log of kernel events. */
export const createTree = (devices: readonly DeviceReport[] = []) => {
  const dir = temporaryDir()
  const log = join(dir, 'uevents')
  writeFileSync(log, '')
  let devnum = 1
  const put = (path: string, content: Buffer | string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  const say = (action: string, portPath: string): void => {
    const file = openSync(log, 'a')
    writeSync(
      file,
      `KERNEL[${(performance.now() / 1000).toFixed(6)}] ${action} /devices/pci0000:00/usb1/${portPath} (usb)\n`,
    )
    closeSync(file)
  }
  /** Applies the controller's default to a new device, as a kernel does. */
  const asAttached = (device: DeviceReport): DeviceReport => {
    const controller = join(dir, 'bus/usb/devices', `usb${device.portPath.split('-')[0]}`, 'authorized_default')
    const isHeld = existsSync(controller) && readFileSync(controller, 'utf8').trim() === '0'
    return isHeld ? { ...device, authorized: false } : device
  }
  const write = (device: DeviceReport): void => {
    devnum++
    for (const [path, content] of describeSysfs([device]))
      if (
        path.startsWith(`bus/usb/devices/${device.portPath}`) &&
        !path.startsWith(`bus/usb/devices/${device.portPath}.`)
      )
        put(path, path.endsWith('/devnum') ? `${devnum}\n` : content)
  }
  const clear = (portPath: string): void =>
    rmSync(join(dir, 'bus/usb/devices', portPath), { recursive: true, force: true })
  for (const [path, content] of describeSysfs([])) put(path, content)
  for (const device of devices) write(device)
  return {
    dir,
    plug: (device: DeviceReport): void => {
      write(asAttached(device))
      say('add', device.portPath)
    },
    unplug: (portPath: string): void => {
      clear(portPath)
      say('remove', portPath)
    },
    change: (device: DeviceReport): void => {
      clear(device.portPath)
      write(device)
      say('change', device.portPath)
    },
    /** Command to use instead of `udevadm monitor`. */
    monitor: `tail -n 0 -f ${log}`,
  }
}

/** Starts the real agent on a tree. */
export const startAgent = (
  server: Pick<ServerCalls, 'url'>,
  token: string,
  tree: { dir: string; monitor?: string },
  stateDir: string,
): Started =>
  start(
    'agent/src/main.ts',
    [
      ...['--server', server.url, '--token', token, '--state-dir', stateDir, '--sysfs-root', tree.dir],
      ...['--monitor-command', tree.monitor ?? 'none'],
    ],
    {},
    nodeFlags,
  )
