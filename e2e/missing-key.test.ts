import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { adminPassword, remove, startServer, temporaryDir } from '../proof/kit/harness.ts'

const dataDir = temporaryDir()
const keyFile = join(dataDir, 'portcullis.key')
afterAll(() => remove(dataDir))

it('the server starts with a used database only with its key file or with leave to create a new one', async () => {
  const env = { PORTCULLIS_ADMIN_PASSWORD: adminPassword }
  const first = await startServer(dataDir, env)
  await first.stop()
  renameSync(keyFile, `${keyFile}.copy`)

  const refused = spawnSync(process.execPath, ['server/src/entry/start.ts'], {
    env: { PATH: process.env.PATH ?? '', HOME: dataDir, PORTCULLIS_DATA_DIR: dataDir, PORTCULLIS_PORT: '0' },
    encoding: 'utf8',
  })
  expect([refused.status, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`The key file ${keyFile} of this database does not exist: restore it from its copy`),
  ])
  expect(existsSync(keyFile)).toBe(false)

  renameSync(`${keyFile}.copy`, keyFile)
  await (await startServer(dataDir, env)).stop()

  rmSync(keyFile)
  await (await startServer(dataDir, { ...env, PORTCULLIS_ALLOW_NEW_KEY: '1' })).stop()
  expect(existsSync(keyFile)).toBe(true)
  await (await startServer(dataDir, env)).stop()
})
