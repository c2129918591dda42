import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const run = promisify(execFile)

/** Runs a command without a server and returns its error. */
const refusal = async (...args: string[]): Promise<string> => {
  const failed = await run(process.execPath, [main, 'admin', ...args], {
    env: { ...process.env, PORTCULLIS_KEY_FILE: '/nowhere/key', PORTCULLIS_DATA_DIR: '/nowhere' },
  }).then(
    () => ({ stderr: 'it did not fail' }),
    (error: { stderr: string }) => error,
  )
  return failed.stderr
}

describe('recovery commands on the server', () => {
  it.each(['lift-suspension', 'reset-second-factor', 'exempt-second-factor'])(
    '%s takes the account from --user and needs one',
    async (command) => {
      expect(await refusal(command)).toContain('Set the account with --user <name>.')
      const named = await refusal(command, '--user', 'ada')
      expect(named).not.toContain('--user')
      expect(named).toContain('/nowhere')
    },
    60_000,
  )
})
