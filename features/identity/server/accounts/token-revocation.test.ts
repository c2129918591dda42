import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest, trustAccounts } from '@portcullis/server/test/approvals.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const api = '/prime/webui'
const newPassword = 'a quite different password'
const cli = new URL('../../../../cli/src/main.ts', import.meta.url).pathname

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

/** Creates two API tokens of an account, and returns the status codes of calls with them. */
const tokensOf = async (owner: Person) => {
  const texts: string[] = []
  for (const name of ['siem', 'backup']) {
    const made = await owner.api.post(`${api}/admin/apiTokens`, { name })
    expect(made.statusCode, made.body).toBe(200)
    texts.push(made.json().token)
  }
  return async () =>
    Promise.all(texts.map(async (text) => (await t.as(text).get(`${api}/admin/getuserdetails`)).statusCode))
}
const recordsOf = (userName: string) =>
  t.db.query<{ record: string }>(
    sql`select r.record from audit_records r where r.action = 'account.tokensRevoked' and r.record like ${`%${userName}%`}`,
  )
const linkOf = (output: string): string => /#token=(\S+)/.exec(output)?.[1] ?? ''
/** Every way to set the password of an existing account. */
const ways: [string, (who: Person, extra: object) => Promise<unknown>][] = [
  [
    'their own profile',
    (who, extra) =>
      who.api.post(`${api}/admin/updateuserdetails`, { oldPassword: who.password, newPassword, ...extra }),
  ],
  [
    'an Administrator',
    async (who, extra) =>
      (await t.admin()).post(`${api}/admin/updateuser`, { userName: who.userName, password: newPassword, ...extra }),
  ],
  [
    'a set-password link',
    async (who, extra) => {
      const token = linkOf((await t.server.accounts.resetPassword(who.userName, false))?.url ?? '')
      return t.as(undefined).post(`${api}/Auth/SetPassword`, { token, newPassword, ...extra })
    },
  ],
]

describe.each(ways)('a new password by %s', (_, set) => {
  it('keeps API tokens unless they are revoked with it, on record', async () => {
    const who = await person(t)
    const answers = await tokensOf(who)
    expect(await set(who, {})).toMatchObject({ statusCode: 200 })
    expect(await answers()).toEqual([200, 200])
    expect(await recordsOf(who.userName)).toEqual([])

    const other = await person(t)
    const others = await tokensOf(other)
    expect(await set(other, { revokeApiTokens: true })).toMatchObject({ statusCode: 200 })
    expect(await others()).toEqual([401, 401])
    expect(await answers()).toEqual([200, 200])
    expect((await recordsOf(other.userName))[0]?.record).toContain('backup, siem')
  })
})

describe('revoking API tokens with a password', () => {
  it('the link answers how many tokens still work', async () => {
    const who = await person(t)
    await tokensOf(who)
    for (const [extra, apiTokensLeft] of [
      [{}, 2],
      [{ revokeApiTokens: true }, 0],
    ] as const) {
      const token = linkOf((await t.server.accounts.resetPassword(who.userName, false))?.url ?? '')
      const answer = await t.as(undefined).post(`${api}/Auth/SetPassword`, { token, newPassword, ...extra })
      expect(answer.json()).toEqual({ userName: who.userName, apiTokensLeft })
    }
  })

  it('is refused without a password', async () => {
    const who = await person(t)
    const answers = await tokensOf(who)
    const refused = [
      await who.api.post(`${api}/admin/updateuserdetails`, { phone: '1', revokeApiTokens: true }),
      await (await t.admin()).post(`${api}/admin/updateuser`, { userName: who.userName, revokeApiTokens: true }),
    ]
    expect(refused.map((one) => [one.statusCode, one.json().errors[0].field])).toEqual([
      [400, 'body.revokeApiTokens'],
      [400, 'body.revokeApiTokens'],
    ])
    expect(await answers()).toEqual([200, 200])
  })

  it('the command line counts the tokens, and revokes them with --revoke-tokens', async () => {
    const who = await person(t)
    await tokensOf(who)
    const reset = async (isRevoking: boolean) => (await t.accounts.resetPassword(who.userName, isRevoking))?.apiTokens
    expect(await reset(false)).toEqual({ revoked: 0, left: 2 })
    expect(await reset(true)).toEqual({ revoked: 2, left: 0 })
    expect((await recordsOf(who.userName))[0]?.record).toContain('backup, siem')
    const list = (await (await t.admin()).get(`${api}/admin/apiTokens`)).json() as { userName: string }[]
    expect(list.filter(({ userName }) => userName === who.userName)).toEqual([])
    const { stdout } = await promisify(execFile)(process.execPath, [cli, 'admin', 'reset-password', '--help'])
    expect(stdout).toContain('--revoke-tokens')
  })

  it('of another Administrator, the second approver reads it and the approval revokes them', async () => {
    const [owner, second] = [await person(t, { profile: 10 }), await person(t, { profile: 10 })]
    const answers = await tokensOf(owner)
    const change = { userName: owner.userName, password: newPassword, revokeApiTokens: true }
    const asked = await (await t.admin()).post(`${api}/admin/updateuser`, change)
    expect([asked.statusCode, asked.json().code]).toEqual([403, 'second_person_required'])
    expect(await answers()).toEqual([200, 200])
    await trustAccounts(t)
    const [id] = /[0-9a-f-]{36}/.exec(asked.json().detail) ?? []
    const { data } = (await second.api.get(`${api}/policy/changerequests/${id}/details`)).json()
    expect(JSON.stringify(data)).toContain('Revoke API tokens: yes')
    expect((await approveRequest(second.api, id)).statusCode).toBe(200)
    expect(await answers()).toEqual([401, 401])
  })
})
