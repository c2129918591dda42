import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const newPassword = 'a quite different password'
const tokenOf = (url: string): string => url.slice(url.indexOf('#token=') + 7)

describe('lock-out exit', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp()
    await liftGate(t)
  })
  afterAll(() => t.close())

  it('lets a disabled Administrator sign in again by a link that works once, and records it', async () => {
    const { userName } = await person(t, { profile: 10 })
    await (await t.admin()).post('/prime/webui/admin/updateuser', { userName, isEnabled: false })
    const link = await t.accounts.resetPassword(userName.toUpperCase(), false)
    expect(link?.userName).toBe(userName)
    const set = () =>
      t.as(undefined).post('/prime/webui/Auth/SetPassword', { token: tokenOf(link?.url ?? ''), newPassword })
    expect((await set()).json()).toEqual({ userName, apiTokensLeft: 0 })
    expect((await set()).json()).toMatchObject({ code: 'link_invalid' })
    await expect(t.signIn(userName, newPassword)).resolves.toMatch(/./)
    const rows = await t.db.query<{ actor: string; record: string }>(
      sql`select r.actor, r.record from audit_records r where r.action = 'account.linkCreated' order by r.audit_id desc limit 1`,
    )
    expect(rows[0]?.record).toContain('enabled again')
    expect(rows[0]?.actor).toBe('system')
  })

  it('creates a link that does not work if it was created with another key file', async () => {
    const keyDir = mkdtempSync(join(tmpdir(), 'portcullis-keys-'))
    const other = await startTestApp({ database: t.database, keyDir })
    const link = await other.accounts.resetPassword('admin', false)
    await other.close()
    rmSync(keyDir, { recursive: true, force: true })
    const answer = await t
      .as(undefined)
      .post('/prime/webui/Auth/SetPassword', { token: tokenOf(link?.url ?? ''), newPassword })
    expect(answer.json()).toMatchObject({ code: 'link_invalid' })
  })

  it('returns null for an account that does not exist', async () => {
    expect(await t.accounts.resetPassword('nobody', false)).toBeNull()
  })
})
