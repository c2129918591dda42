/** Asks a server that runs with `inside.ts` for what only the process itself knows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fromRoot } from './root.ts'

export interface Look {
  looks: number
  /** Delays of the event loop since the last look. */
  delays: { count: number; p99Ms: number; maxMs: number }
  /** Bytes after two collections of garbage. */
  rss: number
  heapUsed: number
  external: number
  /** Sockets, timers, files and requests that keep the process alive. */
  resources: number
}

/** What the server's environment needs, and the question; `folder` is one that the server may write to. */
export const createLookInside = (folder: string) => {
  const file = join(folder, 'inside.json')
  let looks = 0
  return {
    env: {
      NODE_OPTIONS: `--import ${pathToFileURL(fromRoot('rig/inside.ts')).href}`,
      RIG_INSIDE_FILE: file,
    },
    /** Collects the server's garbage, and tells of the time since the last look. */
    look: async (pid: number): Promise<Look> => {
      looks += 1
      process.kill(pid, 'SIGUSR2')
      for (let tries = 0; tries < 600; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        try {
          const seen = JSON.parse(readFileSync(file, 'utf8')) as Look
          if (seen.looks >= looks) return seen
        } catch {
          // Not written yet.
        }
      }
      throw new Error('The server did not tell of itself within 30 s.')
    },
  }
}
