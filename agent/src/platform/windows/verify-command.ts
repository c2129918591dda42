import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WindowsVerification } from '@portcullis/contract/windows-verification.ts'
import { cannotStart } from '../../exit.ts'
import { requestVerification, verificationResult } from './verify.ts'

/** Time limit for the service, which checks for requests every second. */
const LIMIT_MS = 60_000
const POLL_MS = 200

/**
 * Asks the running service for a verification. Prints its file, or writes it to the path in the arguments, and lists the
 * steps.
 *
 * @throws AgentExit(1) if the service does not answer
 */
export const verifyHost = async ([file, ...more]: readonly string[], stateDir: string): Promise<void> => {
  if (more.length > 0) throw cannotStart('Usage: portcullis-agent verify [FILE]')
  requestVerification(stateDir)
  let text: string | undefined
  for (let waited = 0; text === undefined; waited += POLL_MS) {
    if (waited > LIMIT_MS)
      throw cannotStart('The agent did not answer. Check that its service is running and that this host is enrolled.')
    await sleep(POLL_MS)
    text = verificationResult(stateDir)
  }
  if (file === undefined) process.stdout.write(text)
  else writeFileSync(file, text)
  const { payload } = JSON.parse(text) as { payload: string }
  const { checks } = JSON.parse(payload) as WindowsVerification
  for (const { id, result, detail } of checks)
    process.stderr.write(`${result.padEnd(13)}  ${id}${detail === '' ? '' : `: ${detail}`}\n`)
}
