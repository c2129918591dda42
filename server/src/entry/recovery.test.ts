import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { expect, it } from 'vitest'
import { codeCache } from '#test/code-cache.ts'

const cli = new URL('../../../cli/src/main.ts', import.meta.url).pathname

it('portcullis audit anchor sets the anchor with the key file and the database of the server, and exits', () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-anchor-'))
  // If root starts the server, its embedded database runs as another user, who needs access to the folder.
  chmodSync(dir, 0o711)
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  const anchor = () =>
    spawnSync(process.execPath, [cli, 'audit', 'anchor'], {
      env: { ...codeCache, PATH: process.env.PATH ?? '', HOME: dir, PORTCULLIS_DATA_DIR: dataDir },
      encoding: 'utf8',
      timeout: 90_000,
    })
  try {
    expect(anchor()).toMatchObject({ status: 1, stderr: expect.stringContaining('does not exist') })
    loadKeys(join(dataDir, 'portcullis.key'))
    expect(anchor()).toMatchObject({ status: 0, stdout: expect.stringContaining('The anchor contains no') })
    expect(JSON.parse(readFileSync(join(dataDir, 'portcullis.key.audit-anchor'), 'utf8'))).toMatchObject({ number: 0 })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}, 120_000)
