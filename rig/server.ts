/** The real server as a process: started, killed, paused and started again at the same address. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createCaller } from './caller.ts'
import { temporaryFolder } from './database.ts'
import { signalPostgres, undoAtBreak } from './leftovers.ts'
import { root as ownRoot } from './root.ts'

/** Password of the account `admin` of every server that is started here. */
export const adminPassword = 'a password for the test rig only'

let folder: string | undefined

/** Compiled code of all servers of a run: each has a data directory that is new, where none could be kept. */
const codeFolder = (): string => {
  if (folder === undefined) {
    const made = temporaryFolder('code')
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return folder
}

export interface ServerProcessOptions {
  /** `DATABASE_URL`; absent: the server runs its own database in `dataDir`. */
  databaseUrl?: string
  /** Data directory. Replicas share a key file: `env: { PORTCULLIS_KEY_FILE }`. */
  dataDir: string
  port: number
  /** Further variables of its environment; they win. */
  env?: Readonly<Record<string, string>>
  /** Checkout to run; absent: this one. */
  root?: string
  /** PEM of the CA to trust, when it serves HTTPS. */
  ca?: string
  /** Command in front of it, such as `faketime`. */
  wrapper?: readonly string[]
}

export type ServerProcess = Awaited<ReturnType<typeof startServerProcess>>

/** Where the server says it is; fails with its last words when it ends before. */
const addressOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    const lines: string[] = []
    const hear = (line: string): void => {
      lines.push(line)
      const at = /^Portcullis is at (\S+)$/.exec(line)
      if (at !== null) resolve(at[1] as string)
    }
    for (const stream of [child.stdout, child.stderr]) if (stream) createInterface(stream).on('line', hear)
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      reject(new Error(`The server ended (${signal ?? `code ${code}`}): ${lines.slice(-8).join(' | ')}`)),
    )
  })

/** A server that is told to end gets so long for it, when the run is broken off. */
const endWithinMs = 15_000

/** Starts a server and waits until it serves. */
export const startServerProcess = async (options: ServerProcessOptions) => {
  const { databaseUrl, dataDir, port, env = {}, root = ownRoot, ca, wrapper = [] } = options
  const command = [...wrapper, process.execPath, join(root, 'server/src/entry/start.ts')]
  const [program = process.execPath, ...args] = command
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? dataDir,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      PORTCULLIS_DATA_DIR: dataDir,
      PORTCULLIS_PORT: String(port),
      PORTCULLIS_ADMIN_PASSWORD: adminPassword,
      PORTCULLIS_LOG_LEVEL: 'warn',
      // Peers of drills and gates are on this machine.
      PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8,::1',
      NODE_COMPILE_CACHE: codeFolder(),
      ...env,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      // What was said last is enough to understand an end; a log of hours would only fill the memory.
      output = (output + chunk.toString()).slice(-1_000_000)
    })
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  // Nothing outlives the rig, however it ends.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ownCluster = join(dataDir, 'postgres')
  const isGone = undoAtBreak(async () => {
    // What stands still hears nothing.
    signalPostgres(ownCluster, 'SIGCONT')
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    const late = setTimeout(kill, endWithinMs)
    if (child.pid !== undefined) await ended
    clearTimeout(late)
    signalPostgres(ownCluster, 'SIGKILL')
  })
  void ended.then(() => {
    process.removeListener('exit', kill)
    // One that was killed leaves its own database to the next server on its folder.
    if (!existsSync(ownCluster)) isGone()
  })
  const startedAt = performance.now()
  const url = await addressOf(child)
  const call = createCaller(url, ca)
  return {
    url,
    ca,
    dataDir,
    pid: child.pid as number,
    /** Milliseconds from the start to the first answer it could give. */
    startMs: performance.now() - startedAt,
    call,
    /** Its last megabyte of output. */
    output: (): string => output,
    ended,
    isRunning: (): boolean => child.exitCode === null && child.signalCode === null,
    /** An access token of the administrator; they live for 15 minutes. */
    signIn: async (): Promise<string> =>
      String((await call('/prime/webui/Auth/LocalLogin', { userName: 'admin', password: adminPassword })).token),
    /** Sends a signal and waits for the end. */
    end: async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
    /** Sends a signal such as SIGSTOP. */
    signal: (signal: NodeJS.Signals): boolean => child.kill(signal),
  }
}
