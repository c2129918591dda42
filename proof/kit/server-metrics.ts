/** Requests the internal figures of a server that runs with `report-metrics.ts`. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from './database.ts'
import { fromRoot } from './root.ts'

export interface ServerMetrics {
  looks: number
  /** Delays of the event loop since the last request. */
  delays: { count: number; p99Ms: number; maxMs: number }
  /** Resident bytes after two garbage collections. */
  rss: number
  heapUsed: number
  external: number
  /** Number of sockets, timers, files and requests that keep the process alive. */
  resources: number
}

/** Returns the environment variables for the server and the request function. */
export const createServerMetrics = () => {
  const file = join(temporaryFolder('metrics'), 'inside.json')
  let looks = 0
  return {
    env: {
      NODE_OPTIONS: `--import ${pathToFileURL(fromRoot('proof/kit/report-metrics.ts')).href}`,
      PROOF_METRICS_FILE: file,
    },
    /** Collects the server's garbage and returns the figures since the last request. */
    read: async (pid: number): Promise<ServerMetrics> => {
      looks += 1
      process.kill(pid, 'SIGUSR2')
      for (let tries = 0; tries < 600; tries++) {
        await pause(50)
        try {
          const seen = JSON.parse(readFileSync(file, 'utf8')) as ServerMetrics
          if (seen.looks >= looks) return seen
        } catch {
          // The file does not exist yet.
        }
      }
      throw new Error('The server did not write its figures within 30 s.')
    },
  }
}
