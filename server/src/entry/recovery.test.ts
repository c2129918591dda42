import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { codeCache } from '#test/code-cache.ts'

const cli = new URL('../../../cli/src/main.ts', import.meta.url).pathname
let dir = ''
let dataDir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'portcullis-recovery-'))
  // If root starts the server, its embedded database runs as another user, who needs access to the folder.
  chmodSync(dir, 0o711)
  dataDir = join(dir, 'data')
  mkdirSync(dataDir, { mode: 0o711 })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Runs a command. Returns its exit code, and what it printed. */
const run = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    env: { ...codeCache, PATH: process.env.PATH ?? '', HOME: dir, PORTCULLIS_DATA_DIR: dataDir },
    encoding: 'utf8',
    timeout: 90_000,
  })
  return { status, stdout, stderr }
}
const entry = new URL('recovery.ts', import.meta.url).pathname
const refused = (stderr: string) => ({ status: 1, stdout: '', stderr: expect.stringContaining(stderr) })

it('refuses numbers out of range, and to run without the key file', () => {
  expect(run('admin', 'lift-second-approver', '--minutes', '1441')).toEqual(
    refused('--minutes must be a whole number from 1 to 1440, not "1441".\n'),
  )
  expect(run('--user', 'ada', 'admin', 'exempt-second-factor', '--hours', '0')).toEqual(
    refused('--hours must be a whole number from 1 to 168.\n'),
  )
  expect(run('audit', 'anchor')).toEqual(refused('does not exist'))
}, 120_000)

it('refuses a command that is only a member of objects', () => {
  const { status, stderr } = spawnSync(process.execPath, [entry, 'constructor'], {
    env: { HOME: dir },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, expect.stringContaining('Unknown command. Use')])
})

it('sets the anchor of the audit trail, and says which account does not exist', () => {
  loadKeys(join(dataDir, 'portcullis.key'))
  expect(run('audit', 'anchor')).toMatchObject({
    status: 0,
    stdout: 'The anchor contains no checkpoint. The server signs the trail from its first record.\n',
  })
  expect(JSON.parse(readFileSync(join(dataDir, 'portcullis.key.audit-anchor'), 'utf8'))).toMatchObject({ number: 0 })
  for (const [command, answer] of [
    ['reset-password', 'The local account "ada" does not exist.\n'],
    ['lift-suspension', 'The account ada does not exist.\n'],
    ['reset-second-factor', 'The local account ada does not exist.\n'],
    ['exempt-second-factor', 'The local account ada does not exist.\n'],
  ] as const)
    expect(run('--user', 'ada', 'admin', command)).toEqual({ status: 1, stdout: '', stderr: answer })
  expect(run('admin', 'lift-second-approver', '--minutes', '5')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^No second approver is needed until /),
  })
}, 240_000)
