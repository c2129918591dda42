/** Runs the real server as a process: started, killed, paused and restarted at the same address. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { serverArguments, serverEnvironment } from '../../scripts/bootstrap/server-arguments.mjs'
import { temporaryFolder } from './database.ts'
import { onInterrupt, signalPostgres } from './interrupts.ts'
import { root as ownRoot } from './root.ts'
import { createCaller } from './wire.ts'

/** Password of the account `admin` on every server of the rig. */
export const adminPassword = 'a password for the test rig only'

let folder: string | undefined

/**
 * Returns the directory for compiled code of all servers of a run. Each data directory is new and has no compiled code.
 */
const codeFolder = (): string => {
  if (folder === undefined) {
    const made = temporaryFolder('code')
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return folder
}

export interface ServerProcessOptions {
  /** `DATABASE_URL`. If absent, the server runs its own database in `dataDir`. */
  databaseUrl?: string
  /** Data directory. Replicas share a key file: `env: { PORTCULLIS_KEY_FILE }`. */
  dataDir: string
  port: number
  /** Additional environment variables. They take precedence. */
  env?: Readonly<Record<string, string>>
  /** Checkout to run. Default: this one. */
  root?: string
  /** PEM of the CA to trust if it serves HTTPS, or a function that returns it once the server runs. */
  ca?: string | (() => string)
  /** Executable of Node. Default: the running one. */
  node?: string
  /** Caches compiled code in the data directory, as in production. A server on a new one then compiles everything. */
  hasOwnCode?: boolean
}

export type ServerProcess = Awaited<ReturnType<typeof startServerProcess>>

/** Returns the address that the server prints. Fails with its last output if it ends first. */
const addressOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    const lines: string[] = []
    const onLine = (line: string): void => {
      lines.push(line)
      const at = /^Portcullis is at (\S+)$/.exec(line)
      if (at !== null) resolve(at[1] as string)
    }
    for (const stream of [child.stdout, child.stderr]) if (stream) createInterface(stream).on('line', onLine)
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      reject(new Error(`The server ended (${signal ?? `code ${code}`}): ${lines.slice(-8).join(' | ')}`)),
    )
  })

/** When a run is interrupted, a server has this many milliseconds to stop. */
const endWithinMs = 15_000

/** Starts a server and waits until it is ready. */
export const startServerProcess = async (options: ServerProcessOptions) => {
  const { databaseUrl, dataDir, port, env = {}, root = ownRoot, node = process.execPath } = options
  const child = spawn(node, [...serverArguments, join(root, 'server/src/entry/start.ts')], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...serverEnvironment,
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? dataDir,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      PORTCULLIS_DATA_DIR: dataDir,
      PORTCULLIS_PORT: String(port),
      PORTCULLIS_ADMIN_PASSWORD: adminPassword,
      PORTCULLIS_LOG_LEVEL: 'warn',
      // The peers of drills and gates run on this machine.
      PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8,::1',
      ...(options.hasOwnCode === true ? {} : { NODE_COMPILE_CACHE: codeFolder() }),
      ...env,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      // The last output is enough to explain an exit. Hours of logs would only fill the memory.
      output = (output + chunk.toString()).slice(-1_000_000)
    })
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  // No process outlives the rig.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ownCluster = join(dataDir, 'postgres')
  const isGone = onInterrupt(async () => {
    // A stopped process does not receive other signals.
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
    // A killed server leaves its database to the next server with this data directory.
    if (!existsSync(ownCluster)) isGone()
  })
  const startedAt = performance.now()
  const url = await addressOf(child)
  const ca = typeof options.ca === 'function' ? options.ca() : options.ca
  const call = createCaller(url, ca)
  /** Returns an access token of the administrator. Tokens expire after 15 minutes. */
  const signIn = async (): Promise<string> =>
    String((await call('/prime/webui/Auth/LocalLogin', { userName: 'admin', password: adminPassword })).token)
  const end = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  return {
    url,
    ca,
    dataDir,
    pid: child.pid as number,
    /** Milliseconds from the start to the first response. */
    startMs: performance.now() - startedAt,
    call,
    /** Returns the last megabyte of output. */
    output: (): string => output,
    ended,
    isRunning: (): boolean => child.exitCode === null && child.signalCode === null,
    signIn,
    /** Creates a token with which hosts enrol. */
    enrolmentToken: async (maxUses: number, admin?: string): Promise<string> => {
      const asked = { name: 'proof', maxUses }
      return String((await call('/prime/webui/agents/enrollmenttokens', asked, admin ?? (await signIn()))).token)
    },
    /** Sends a signal and waits until the process ends. */
    end,
    [Symbol.asyncDispose]: async (): Promise<void> => void (await end()),
    /** Sends a signal such as SIGSTOP. */
    signal: (signal: NodeJS.Signals): boolean => child.kill(signal),
  }
}
