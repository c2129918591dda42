/**
 * Loaded into the server before the product (`--import`): reports internal figures of the process on request. The
 * product does not know about it.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const file = process.env.PROOF_METRICS_FILE
/** Sampling interval of the event loop monitor. Delays are measured on top of it. */
const resolutionMs = 5

// Worker threads of the server load this file, too.
if (file !== undefined && isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const loop = monitorEventLoopDelay({ resolution: resolutionMs })
  loop.enable()
  let looks = 0
  const delay = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs)
  process.on('SIGUSR2', () => {
    const delays = { count: loop.count, p99Ms: delay(loop.percentile(99)), maxMs: delay(loop.max) }
    collect()
    collect()
    const { rss, heapUsed, external } = process.memoryUsage()
    looks += 1
    const look = { looks, delays, rss, heapUsed, external, resources: process.getActiveResourcesInfo().length }
    writeFileSync(`${file}.new`, JSON.stringify(look))
    renameSync(`${file}.new`, file)
    // Exclude the delay of the garbage collection itself.
    setImmediate(() => loop.reset())
  })
}
