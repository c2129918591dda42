/** Runs agentless workers: real processes that are killed and paused, and simulated ones with invalid messages. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Poll, type PollResult, type WorkerResultsResponse, workerPaths } from '@portcullis/features/contract.ts'
import type { ServerProcess } from './server.ts'

export type WorkerProcess = Awaited<ReturnType<typeof startWorkerProcess>>

/** Starts a worker and waits until it is registered. */
export const startWorkerProcess = async (root: string, url: string, token: string, concurrency: number) => {
  const args = ['--server', url, '--token', '-', '--concurrency', String(concurrency)]
  const child = spawn(process.execPath, [join(root, 'poller/src/main.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      process.removeListener('exit', kill)
      resolve()
    }),
  )
  child.stdin.end(`${token}\n`)
  const id = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const at = /registered as (\S+)$/.exec(line)
      if (at !== null) resolve(at[1] as string)
    })
    child.once('exit', (code) => reject(new Error(`the worker exited with code ${code}`)))
  })
  return {
    id,
    signal: (signal: NodeJS.Signals): boolean => child.kill(signal),
    kill: (): Promise<void> => {
      kill()
      return ended
    },
  }
}

/** Returns a result with a Linux host that has no devices. */
export const emptyResult = ({ id, fence }: Pick<Poll, 'id' | 'fence'>): PollResult => ({
  id,
  fence,
  durationMs: 1,
  failure: null,
  message: '',
  hostKeyFingerprint: null,
  platform: 'linux',
  machineIdHash: null,
  facts: null,
  devices: [],
  steps: [],
})

/** Registers a simulated worker. The caller decides what it leases and sends. */
export const playWorker = async (call: ServerProcess['call'], token: string) => {
  const { key, pollerId } = await call(workerPaths.register, { token, name: 'played', version: '1' })
  return {
    id: String(pollerId),
    lease: async (free: number): Promise<Poll[]> => {
      const asked = { free, capacity: 64, running: [], version: '1', cpu: 0 }
      return (await call(workerPaths.lease, asked, String(key))).polls as Poll[]
    },
    bring: async (results: readonly PollResult[]): Promise<WorkerResultsResponse> =>
      (await call(workerPaths.results, { results }, String(key))) as WorkerResultsResponse,
  }
}
