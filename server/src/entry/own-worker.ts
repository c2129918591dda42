/** Runs the agentless worker of `npm start` in its own process, a client like any other, while there is work for it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'

const worker = fileURLToPath(new URL('../../../poller/src/main.ts', import.meta.url))
const stopMs = 5_000
/** Delay before an ended worker is started again. */
const againMs = 5_000
/** A connection test waits for one look at most. An idle worker would keep 87 MB. */
const defaultPace = { lookMs: 1_000, idleMs: 60_000 }

export interface OwnWorkerOptions {
  url: string
  /** File with the certificate of the server's own CA; null: the system already trusts it. */
  caFile: string | null
  token: Secret
  /** Returns true if hosts are polled or a connection is tested. */
  isNeeded(): Promise<boolean>
  /** Interval at which the server looks for work, and the time without work after which the worker ends. */
  pace?: { lookMs: number; idleMs: number }
  log: Log
}

export interface OwnWorker {
  /** Process id of the worker; null: none runs. */
  pid(): number | null
  stop(): Promise<void>
}

/**
 * Starts the worker as soon as it is needed, restarts it whenever it ends, and ends it a minute after it was needed
 * last. `stop` ends it and waits until it has ended.
 */
export const startOwnWorker = (options: OwnWorkerOptions): OwnWorker => {
  const { url, caFile, token, isNeeded, log } = options
  const { lookMs, idleMs } = options.pace ?? defaultPace
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopping = false
  let neededAt = 0
  let startAt = 0

  function start(): ChildProcess {
    const args = [worker, '--server', url, '--token', '-', '--own', ...(caFile === null ? [] : ['--ca', caFile])]
    // The worker gets none of the server's environment, which may contain a password or a database address.
    const { PATH = '', HOME = '', TZ, NODE_COMPILE_CACHE } = process.env
    const started = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
      // Ctrl+C goes to the server only, which then stops the worker. If the server crashes, the channel closes and the
      // worker ends.
      detached: true,
      env: {
        PATH,
        HOME,
        ...(TZ === undefined ? {} : { TZ }),
        // Compiling its code takes a third of the time of its start.
        ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
      },
    })
    const ended = (): void => {
      if (child !== started) return
      child = undefined
      startAt = performance.now() + againMs
    }
    started.stdin?.on('error', () => {})
    started.stdin?.end(`${token.reveal()}\n`)
    started.stderr?.on('data', (text: Buffer) =>
      log.warn({ worker: String(text).trim().slice(0, 500) }, 'agentless worker'),
    )
    started.once('error', (error) => {
      log.error({ err: error }, 'cannot start the agentless worker')
      ended()
    })
    started.once('exit', (code) => {
      if (child !== started || isStopping) return
      log.warn({ code }, 'the agentless worker ended; the server starts it again')
      ended()
    })
    return started
  }

  async function end(running: ChildProcess): Promise<void> {
    if (running.pid === undefined || running.exitCode !== null || running.signalCode !== null) return
    const ended = new Promise<void>((resolve) => running.once('exit', () => resolve()))
    running.kill('SIGTERM')
    const late = setTimeout(() => running.kill('SIGKILL'), stopMs)
    await ended
    clearTimeout(late)
  }

  async function look(): Promise<void> {
    const isWanted = await isNeeded().catch((error: unknown) => {
      // A database that is away is no reason to start or end a worker.
      log.debug({ err: error }, 'cannot read whether hosts are polled')
      return child !== undefined
    })
    if (isStopping) return
    const now = performance.now()
    if (isWanted) neededAt = now
    if (isWanted && child === undefined && now >= startAt) child = start()
    if (child !== undefined && now - neededAt > idleMs) {
      const idle = child
      child = undefined
      await end(idle)
      log.info('no host is polled: the agentless worker ended')
    }
    timer = isStopping ? undefined : setTimeout(() => void look(), lookMs)
  }
  void look()

  return {
    pid: () => child?.pid ?? null,
    stop: async (): Promise<void> => {
      isStopping = true
      clearTimeout(timer)
      if (child !== undefined) await end(child)
    },
  }
}
