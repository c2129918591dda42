/** Controls where a server that runs with `faults.ts` throws. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from './database.ts'
import { fromRoot } from './root.ts'
import { randomSeedEnv } from './seeded-random.ts'

/** Request header that names where to throw. */
export const faultHeader = 'x-proof-fault'
/** Response header that shows that the fault was thrown. */
export const thrownHeader = 'x-proof-thrown'
/** Message of the thrown error. No response may contain it. */
export const faultText = 'thrown by the test'

/** Returns the environment variables for the server and the controls. */
export const createFaults = () => {
  const file = join(temporaryFolder('faults'), 'faults')
  writeFileSync(file, '0')
  return {
    env: {
      NODE_OPTIONS: `--import ${pathToFileURL(fromRoot('proof/kit/faults.ts')).href}`,
      PROOF_FAULTS_FILE: file,
      ...randomSeedEnv(),
    },
    /** Sets the share of statements outside requests that throw. Takes effect within a tenth of a second. */
    outside: (share: number): void => {
      writeFileSync(`${file}.share`, String(share))
      renameSync(`${file}.share`, file)
    },
    /** Returns how many faults were thrown. */
    told: (): { inRequests: number; outside: number } => {
      try {
        return JSON.parse(readFileSync(`${file}.told`, 'utf8')) as { inRequests: number; outside: number }
      } catch {
        return { inRequests: 0, outside: 0 }
      }
    },
  }
}
