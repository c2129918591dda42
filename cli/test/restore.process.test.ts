import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'

const cli = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'portcullis-bad-'))
afterAll(() => rmSync(dir, { recursive: true }))

const file = (name: string, content: string | Buffer): string => {
  writeFileSync(join(dir, name), content)
  return join(dir, name)
}
const head = (more: object = {}): string =>
  `${JSON.stringify({ format: 'portcullis-backup', version: 1, createdAt: '', product: '', schema: 1, hasKeys: false, encryption: null, ...more })}\n`

/** Returns what the command printed, which must be one sentence or two, and checks that it created nothing. */
const refusal = async (...args: string[]): Promise<string> => {
  const dataDir = join(dir, 'data')
  const failed = await promisify(execFile)(process.execPath, [cli, 'restore', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: dir, PORTCULLIS_DATA_DIR: dataDir },
  }).then(
    () => ({ stderr: 'it did not fail', code: 0 }),
    (error: { stderr: string; code: number }) => error,
  )
  expect(failed.code).toBe(1)
  expect(failed.stderr.trim().split('\n')).toHaveLength(1)
  expect(existsSync(dataDir)).toBe(false)
  return failed.stderr
}

describe('a restore from a bad file says what to do and changes nothing', () => {
  it.each([
    ['is missing', () => [join(dir, 'missing')], /does not exist/],
    ['is a folder', () => [dir], /^This is a folder, not a backup\. Give the path of the file\.$/m],
    ['is another file', () => [file('other', 'hello\n')], /is not a Portcullis backup/],
    ['is empty', () => [file('empty', '')], /^This file is not a Portcullis backup\.$/m],
    ['has a newer format', () => [file('newer', head({ version: 2 }))], /has a newer format/],
    [
      'is encrypted',
      () => [file('sealed', head({ encryption: { salt: 'AA==', nonce: 'AA==' } }))],
      /Enter its passphrase/,
    ],
    [
      'was replaced by one without encryption',
      () => [
        file('plain', Buffer.concat([Buffer.from(head()), gzipSync('')])),
        '--passphrase-file',
        file('secret', 'x'),
      ],
      /this file is not encrypted/,
    ],
  ])('that %s', async (_what, args, sentence) => {
    expect(await refusal(...args())).toMatch(sentence)
  })
})
