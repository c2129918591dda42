import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { permissionsOf } from '#features/contract.ts'

const root = mkdtempSync(join(tmpdir(), 'portcullis-probes-'))
const base = '/prime/webui/generalconfig'
const [folder, file, missing] = ['folder', 'file', 'missing'].map((name) => join(root, name)) as [
  string,
  string,
  string,
]
let t: TestApp

beforeAll(async () => {
  t = await startTestApp()
  mkdirSync(folder)
  writeFileSync(file, '')
})
afterAll(async () => {
  await t.close()
  rmSync(root, { recursive: true })
})

const enabled = (path: string) => ({ BACKUP_ENABLED: 'true', BACKUP_FOLDER: path })
const saved = async (path: string): Promise<number> => {
  t.clock.advance(1)
  const answer = await t.as(await t.signIn()).post(`${base}/AddOrUpdateBackup`, enabled(path))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().version
}
const codeOf = (answer: { json(): { code: string } }): string => answer.json().code

it('answers about folders only after fresh authentication, and writes to none before it', async () => {
  const admin = t.as(await t.signIn())
  const made = await admin.post('/prime/webui/admin/apitokens', {
    name: 'automation',
    userProfile: 10,
    scopes: permissionsOf(10),
  })
  const token = t.as(made.json().token)
  const [gone, current] = [join(root, 'gone'), join(root, 'current')]
  for (const path of [gone, current]) mkdirSync(path)
  const versions = [await saved(folder), await saved(gone)]
  await saved(current)
  rmSync(gone, { recursive: true })
  const stale = t.as(await t.signIn())
  t.clock.advance(6 * 60_000)
  const writtenAt = statSync(folder, { bigint: true }).mtimeNs
  for (const [api, code] of [
    [token, 'session_required'],
    [stale, 'reauthentication_required'],
  ] as const) {
    for (const path of [folder, file, missing]) {
      expect(codeOf(await api.post(`${base}/document`, { settings: enabled(path) }))).toBe(code)
      expect(codeOf(await api.post(`${base}/AddOrUpdateBackup`, enabled(path)))).toBe(code)
    }
    for (const version of versions)
      expect(codeOf(await api.post(`${base}/rollback/${version}?prefix=BACKUP_`))).toBe(code)
  }
  expect(statSync(folder, { bigint: true }).mtimeNs).toBe(writtenAt)
})
