/** Runs the agentless worker of `npm start` in its own process, a client like any other. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Log } from '#platform/log.ts'
import type { Secret } from '#platform/secret.ts'

const worker = fileURLToPath(new URL('../../../poller/src/main.ts', import.meta.url))
const stopMs = 5_000
/** Delay before an ended worker is started again. */
const againMs = 5_000

export interface OwnWorkerOptions {
  url: string
  /** File with the certificate of the server's own CA; null: the system already trusts it. */
  caFile: string | null
  token: Secret
  log: Log
}

/** Starts the worker, and restarts it whenever it ends; `stop` ends it and waits until it has ended. */
export const startOwnWorker = ({ url, caFile, token, log }: OwnWorkerOptions): { stop(): Promise<void> } => {
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopping = false

  function start(): void {
    const args = [worker, '--server', url, '--token', '-', '--own', ...(caFile === null ? [] : ['--ca', caFile])]
    // The worker gets none of the server's environment, which may contain a password or a database address.
    const { PATH = '', HOME = '', TZ, NODE_COMPILE_CACHE } = process.env
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
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
    child.stdin?.on('error', () => {})
    child.stdin?.end(`${token.reveal()}\n`)
    child.stderr?.on('data', (text: Buffer) =>
      log.warn({ worker: String(text).trim().slice(0, 500) }, 'agentless worker'),
    )
    child.once('error', (error) => log.error({ err: error }, 'cannot start the agentless worker'))
    child.once('exit', (code) => {
      if (isStopping) return
      log.warn({ code }, 'the agentless worker ended; the server starts it again')
      timer = setTimeout(start, againMs)
    })
  }
  start()

  return {
    stop: async (): Promise<void> => {
      isStopping = true
      clearTimeout(timer)
      const running = child
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
      const ended = new Promise<void>((resolve) => running.once('exit', () => resolve()))
      running.kill('SIGTERM')
      const late = setTimeout(() => running.kill('SIGKILL'), stopMs)
      await ended
      clearTimeout(late)
    },
  }
}
