/** The agentless worker that `npm start` runs beside the server: a process of its own, a client like any other. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Log } from '#platform/log.ts'
import type { Secret } from '#platform/secret.ts'

const worker = fileURLToPath(new URL('../../../poller/src/main.ts', import.meta.url))
const stopMs = 5_000
/** A worker that ended by itself is started again after this long. */
const againMs = 5_000

export interface OwnWorkerOptions {
  url: string
  /** File with the certificate of the server's own authority; null where the system knows it. */
  caFile: string | null
  token: Secret
  log: Log
}

/** Starts the worker, and again whenever it ends; `stop` ends it and waits for that. */
export const startOwnWorker = ({ url, caFile, token, log }: OwnWorkerOptions): { stop(): Promise<void> } => {
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopping = false

  function start(): void {
    const args = [worker, '--server', url, '--token', '-', '--own', ...(caFile === null ? [] : ['--ca', caFile])]
    // It needs nothing of the server's environment, where a password or a database address may be.
    const { PATH = '', HOME = '', TZ } = process.env
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
      // A Ctrl+C is for the server, which ends it in its turn; when the server is gone, so is the channel, and it ends by itself.
      detached: true,
      env: { PATH, HOME, ...(TZ === undefined ? {} : { TZ }) },
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(`${token.reveal()}\n`)
    child.stderr?.on('data', (text: Buffer) =>
      log.warn({ worker: String(text).trim().slice(0, 500) }, 'agentless worker'),
    )
    child.once('error', (error) => log.error({ err: error }, 'the agentless worker cannot be started'))
    child.once('exit', (code) => {
      if (isStopping) return
      log.warn({ code }, 'the agentless worker ended; it is started again')
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
