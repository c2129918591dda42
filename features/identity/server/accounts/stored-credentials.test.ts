import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

/** Returns every row of every table as text. Bytes are hexadecimal. */
const dump = async (): Promise<string> => {
  const tables = await t.db.query<{ name: string }>(
    sql`select quote_ident(table_name) as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  )
  const rows = await Promise.all(
    tables.map(({ name }) => t.db.query<{ row: string }>(sql`select t::text as row from ${raw(name)} t`)),
  )
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n')
}

it('a copy of the database contains no credential that works', async () => {
  const admin = await t.admin()
  const someone = await person(t)
  const apiToken = (await someone.api.post('/prime/webui/admin/apiTokens', { name: 'siem' })).json()
  const enrolment = (await admin.post('/prime/webui/agents/enrollmenttokens', { name: 'copy' })).json()
  const account = (
    await admin.post('/prime/webui/admin/adduser', { userName: 'linked', userProfile: 30, isEnabled: true })
  ).json()
  const link = new URL(account.setPasswordUrl, 'http://x').hash.split('token=')[1] as string
  const secret = /^pce_[0-9a-f]{32}_([\w-]{43})/.exec(enrolment.token as string)?.[1] as string
  const credentials = { password: someone.password, token: someone.token, apiToken: apiToken.token, secret, link }
  const copy = await dump()
  expect(copy).toContain(someone.userName)
  for (const [name, credential] of Object.entries(credentials)) {
    expect(credential.length, name).toBeGreaterThan(10)
    expect(copy.includes(credential), `${name} as text`).toBe(false)
    expect(copy.includes(Buffer.from(credential).toString('hex')), `${name} as bytes`).toBe(false)
  }
})
