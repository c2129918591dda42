import { randomBytes } from 'node:crypto'
import { createLog } from '@portcullis/platform/server/log.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startOwnWorker } from './own-worker.ts'

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Waits for states, not for times: the worker itself takes the time of a process start. */
const until = <T>(what: () => T): Promise<T> => vi.waitUntil(what, { timeout: 20_000, interval: 20 })

const start = () => {
  const need = { isThere: false, looks: 0 }
  const worker = startOwnWorker({
    url: 'https://127.0.0.1:9',
    caFile: null,
    token: new Secret(randomBytes(16).toString('hex')),
    isNeeded: async () => {
      need.looks++
      return need.isThere
    },
    pace: { lookMs: 20, idleMs: 200 },
    log: createLog('silent'),
  })
  onTestFinished(() => worker.stop())
  return { need, worker }
}

it('runs no worker while nothing needs one, starts it at need, and ends it afterwards', async () => {
  const { need, worker } = start()
  await until(() => need.looks > 5)
  expect(worker.pid()).toBeNull()
  need.isThere = true
  const pid = await until(() => worker.pid())
  expect(isRunning(pid as number)).toBe(true)
  need.isThere = false
  await until(() => worker.pid() === null && !isRunning(pid as number))
})

it('ends the worker with the server', async () => {
  const { need, worker } = start()
  need.isThere = true
  const pid = (await until(() => worker.pid())) as number
  await worker.stop()
  expect(isRunning(pid)).toBe(false)
})
