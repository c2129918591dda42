import { execFile } from 'node:child_process'
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

describe.skipIf(process.getuid?.() !== 0)('root and the data directory of another user', () => {
  it.each([
    [['doctor'], 1],
    [['command-key', 'rotate'], 1],
    [['verify-audit', '--database'], 2],
  ])(
    '%j is refused before it creates anything',
    async (args, code) => {
      const dir = mkdtempSync(join(tmpdir(), 'portcullis-other-'))
      try {
        chownSync(dir, 65_534, 65_534)
        const failed = run(process.execPath, [main, ...args], { env: { ...process.env, PORTCULLIS_DATA_DIR: dir } })
        await expect(failed).rejects.toMatchObject({
          code,
          stderr: expect.stringMatching(
            /^The data directory .* belongs to the user \S+\. Run this command as that user/,
          ),
        })
        expect(readdirSync(dir)).toEqual([])
      } finally {
        rmSync(dir, { recursive: true })
      }
    },
    60_000,
  )

  it('does not create the data directory of a service as root', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-missing-'))
    try {
      const unit = join(dir, 'a.service')
      writeFileSync(unit, `[Service]\nEnvironment=PORTCULLIS_DATA_DIR=${join(dir, 'data')}\n`)
      const { PORTCULLIS_DATA_DIR: _, ...env } = process.env
      const failed = run(process.execPath, [main, 'restore', 'a.backup'], { env: { ...env, PORTCULLIS_UNIT: unit } })
      await expect(failed).rejects.toMatchObject({
        stderr: expect.stringMatching(/does not exist\. Create it .*install -d/),
      })
      expect(readdirSync(dir)).toEqual(['a.service'])
    } finally {
      rmSync(dir, { recursive: true })
    }
  }, 60_000)
})
