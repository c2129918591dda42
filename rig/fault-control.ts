/** Tells a server that runs with `faults.ts` where to throw. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chanceEnv } from './chance.ts'
import { fromRoot } from './root.ts'

/** Where a request is to throw. */
export const faultHeader = 'x-rig-fault'
/** On an answer: it threw. */
export const thrownHeader = 'x-rig-thrown'
/** What is thrown says so; no answer may. */
export const faultText = 'thrown by the rig'

/** What the server's environment needs, and the switch; `folder` is one that the server may write to. */
export const createFaults = (folder: string) => {
  const file = join(folder, 'faults')
  writeFileSync(file, '0')
  return {
    env: {
      NODE_OPTIONS: `--import ${pathToFileURL(fromRoot('rig/faults.ts')).href}`,
      RIG_FAULTS_FILE: file,
      ...chanceEnv(),
    },
    /** Share of the statements outside of requests that throw, within a tenth of a second. */
    outside: (share: number): void => {
      writeFileSync(`${file}.share`, String(share))
      renameSync(`${file}.share`, file)
    },
    /** How often it threw. */
    told: (): { inRequests: number; outside: number } => {
      try {
        return JSON.parse(readFileSync(`${file}.told`, 'utf8')) as { inRequests: number; outside: number }
      } catch {
        return { inRequests: 0, outside: 0 }
      }
    },
  }
}
