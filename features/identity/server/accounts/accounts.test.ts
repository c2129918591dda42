import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const base = '/prime/webui/admin'
const png = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a0000000d', 'hex').toString('base64')}`

describe('accounts', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp()
  })
  afterAll(() => t.close())

  const find = async (userName: string) =>
    (await (await t.admin()).get(`${base}/all`)).json().find((row: { userName: string }) => row.userName === userName)
  const auditOf = async (entity: string): Promise<string[]> =>
    (
      await t.db.query<{ action: string }>(
        sql`select r.action from audit_records r where r.record::jsonb ->> 'entity' = ${entity} order by r.audit_id`,
      )
    ).map((row) => row.action)

  describe('permissions', () => {
    const calls: readonly [string, 'get' | 'post', string, unknown][] = [
      ['getAllUsers', 'get', 'all', undefined],
      ['getUserDetails', 'get', 'getuserdetails', undefined],
      ['getProfile', 'get', 'profile', undefined],
      ['addUser', 'post', 'adduser', { userName: 'never-made', userProfile: 30 }],
      ['updateUser', 'post', 'updateuser', { userName: 'admin' }],
      ['updateUserDetails', 'post', 'updateuserdetails', {}],
      ['deleteUsers', 'post', 'deleteUsers', []],
    ]
    it.each(calls)('%s answers 401 without a token and with an invalid one', async (_id, method, path, body) => {
      for (const token of [undefined, 'nonsense', 'a.b.c', `pct_${'a'.repeat(53)}`]) {
        const api = t.as(token)
        const answer = method === 'get' ? await api.get(`${base}/${path}`) : await api.post(`${base}/${path}`, body)
        expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([401, 'Bearer'])
      }
    })

    it('lets a User read accounts but not change them', async () => {
      const user = await person(t)
      expect((await user.api.get(`${base}/all`)).statusCode).toBe(200)
      for (const [path, body] of [
        ['adduser', { userName: 'never-made', userProfile: 30 }],
        ['updateuser', { userName: user.userName, firstName: 'x' }],
        ['deleteUsers', [user.userName]],
      ] as const) {
        const answer = await user.api.post(`${base}/${path}`, body)
        expect(answer.statusCode).toBe(403)
        expect(answer.json()).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('Manager') })
      }
    })

    it('lets a Manager change only accounts of profile User', async () => {
      const manager = await person(t, { profile: 20 })
      const user = await person(t)
      const other = await person(t, { profile: 20 })
      expect((await manager.api.post(`${base}/adduser`, { userName: 'by-manager', userProfile: 30 })).statusCode).toBe(
        200,
      )
      expect(
        (await manager.api.post(`${base}/updateuser`, { userName: user.userName, lastName: 'B' })).json().lastName,
      ).toBe('B')
      const refused = [
        ['adduser', { userName: 'a-peer', userProfile: 20 }],
        ['adduser', { userName: 'a-boss', userProfile: 10 }],
        ['updateuser', { userName: user.userName, userProfile: 20 }],
        ['updateuser', { userName: other.userName, firstName: 'x' }],
        ['updateuser', { userName: manager.userName, userProfile: 10 }],
        ['updateuser', { userName: 'admin', password: 'taken over by me' }],
        ['deleteUsers', [user.userName, 'admin']],
      ] as const
      for (const [path, body] of refused) {
        const answer = await manager.api.post(`${base}/${path}`, body)
        expect([path, answer.statusCode, answer.json().code]).toEqual([path, 403, 'forbidden_object'])
      }
      // All or nothing: the User in the same request still exists.
      expect(await find(user.userName)).toMatchObject({ userProfile: 30 })
      expect(await find('a-peer')).toBeUndefined()
    })
  })

  describe('adduser', () => {
    it('requires a name and a profile, and defaults the rest', async () => {
      const admin = await t.admin()
      const made = await admin.post(`${base}/adduser`, {
        USERNAME: 'Grace',
        userprofile: 20,
        password: 'a fine long password',
      })
      expect(made.statusCode).toBe(200)
      expect(made.json()).toEqual({
        userName: 'Grace',
        password: null,
        userProfile: 20,
        firstName: '',
        lastName: '',
        email: '',
        phone: null,
        image: '',
        authSource: 'Local',
        isEnabled: true,
        mfaEnabled: false,
        mustChangePassword: false,
        lastSignIn: null,
        createdAt: '2031-05-04T10:11:12.000Z',
        suspendedUntil: null,
        suspendedBy: null,
        setPasswordUrl: null,
        setPasswordExpiresAt: null,
        isMailed: false,
      })
      expect((await admin.post(`${base}/adduser`, { userName: 'gRACE', userProfile: 30 })).statusCode).toBe(409)
      expect(await auditOf('Grace')).toEqual(['account.created'])
    })

    it('refuses invalid names, pictures, profiles and members, and creates nothing', async () => {
      const admin = await t.admin()
      const before = (await admin.get(`${base}/all`)).json().length
      const bodies: unknown[] = [
        {},
        { userName: 'x' },
        { userProfile: 30 },
        { userName: '', userProfile: 30 },
        { userName: ' x', userProfile: 30 },
        { userName: 'x ', userProfile: 30 },
        { userName: 'x\ny', userProfile: 30 },
        { userName: 'x'.repeat(255), userProfile: 30 },
        { userName: 'x', userProfile: 0 },
        { userName: 'x', userProfile: 15 },
        { userName: 'x', userProfile: '30' },
        { userName: 'x', userProfile: 30, email: 'a@b\r\nBcc: c@d' },
        { userName: 'x', userProfile: 30, image: 'data:image/svg+xml;base64,PHN2Zz4=' },
        { userName: 'x', userProfile: 30, image: `data:image/png;base64,${Buffer.from('GIF89a').toString('base64')}` },
        { userName: 'x', userProfile: 30, image: `${png}${'A'.repeat(262_144)}` },
        { userName: 'x', userProfile: 30, isAdmin: true },
        { userName: 'x', userProfile: 30, permissions: ['config:write'] },
        { userName: 'x', userProfile: 30, passwordHash: 'x' },
        { userName: 'x', userProfile: 30, account_id: 'x' },
        '{"userName":"x","userProfile":30,"__proto__":{"userProfile":10}}',
        '{"userName":"x","userName":"y","userProfile":30,"USERPROFILE":10}',
        { userName: ['x'], userProfile: 30 },
      ]
      for (const body of bodies) {
        const answer = await admin.post(`${base}/adduser`, body)
        expect([body, answer.statusCode]).toEqual([body, 400])
      }
      expect((await admin.get(`${base}/all`)).json()).toHaveLength(before)
    })

    it('accepts a picture up to the limit', async () => {
      const admin = await t.admin()
      const made = await admin.post(`${base}/adduser`, { userName: 'pictured', userProfile: 30, image: png })
      expect(made.json().image).toBe(png)
    })

    it.each([
      ['short', 'elevenchars'],
      ['long', 'ab1 '.repeat(33)],
      ['common', 'Password1234'],
      ['repeated', 'abababababab'],
      ['the user name', 'Rule-Breaker-1'],
    ])('refuses a password that is %s', async (_why, password) => {
      const answer = await (await t.admin()).post(`${base}/adduser`, {
        userName: 'rule-breaker-1',
        userProfile: 30,
        password,
      })
      expect([answer.statusCode, answer.json().code]).toEqual([400, 'password_rejected'])
      expect(await find('rule-breaker-1')).toBeUndefined()
    })

    it('distinguishes passwords that differ after the 80th byte', async () => {
      const long = 'long passwords are not cut at any length, whatever the hash of other products does with '
      await (await t.admin()).post(`${base}/adduser`, { userName: 'lengthy', userProfile: 30, password: `${long}A` })
      await expect(t.signIn('lengthy', `${long}B`)).rejects.toThrow('401')
      await t.signIn('lengthy', `${long}A`)
    })
  })

  describe('updateuser', () => {
    it('ignores absent and read-only members, so that a read account can be sent back', async () => {
      const admin = await t.admin()
      const user = await person(t)
      await admin.post(`${base}/updateuser`, { userName: user.userName, firstName: 'Ada', phone: '1' })
      const read = await find(user.userName)
      const back = await admin.post(`${base}/updateuser`, {
        ...read,
        lastName: 'Keller',
        mfaEnabled: true,
        authSource: 'LDAP',
        createdAt: '1999-01-01T00:00:00Z',
      })
      expect(back.json()).toEqual({ ...read, lastName: 'Keller' })
      expect((await admin.post(`${base}/updateuser`, { userName: user.userName, phone: null })).json()).toMatchObject({
        phone: null,
        firstName: 'Ada',
      })
      // The old password is still in force.
      await t.signIn(user.userName, user.password)
    })

    it('audits the changed members, and nothing without a change', async () => {
      const admin = await t.admin()
      const user = await person(t)
      const before = (await auditOf(user.userName)).length
      await admin.post(`${base}/updateuser`, { userName: user.userName })
      expect(await auditOf(user.userName)).toHaveLength(before)
      await admin.post(`${base}/updateuser`, { userName: user.userName, password: 'a new long password' })
      const [row] = await t.db.query<{ record: string }>(sql`
        select r.record from audit_records r where r.action = 'account.changed' order by r.audit_id desc limit 1`)
      expect(row?.record).toContain('password: changed')
      expect(row?.record).not.toContain('a new long password')
      expect(row?.record).not.toContain('argon2')
    })

    it('answers 404 for an unknown name and finds names in any case', async () => {
      const admin = await t.admin()
      expect((await admin.post(`${base}/updateuser`, { userName: 'nobody-here' })).statusCode).toBe(404)
      const user = await person(t)
      const answer = await admin.post(`${base}/updateuser`, { userName: user.userName.toUpperCase(), firstName: 'I' })
      expect(answer.json()).toMatchObject({ userName: user.userName, firstName: 'I' })
    })

    it('refuses to disable or demote the account of the caller', async () => {
      const boss = await person(t, { profile: 10 })
      for (const change of [{ isEnabled: false }, { userProfile: 20 }, { userProfile: 30 }]) {
        const answer = await boss.api.post(`${base}/updateuser`, { userName: boss.userName, ...change })
        expect([answer.statusCode, answer.json().code]).toEqual([409, 'conflict'])
      }
      expect((await boss.api.get(`${base}/profile`)).statusCode).toBe(200)
    })
  })

  describe('deleteUsers', () => {
    it('deletes accounts, reports unknown names, and accepts null as an empty list', async () => {
      const admin = await t.admin()
      const [a, b] = [await person(t), await person(t)]
      for (const none of ['null', '', '[]'])
        expect((await admin.post(`${base}/deleteUsers`, none)).json()).toEqual({ accepted: [], notFound: [] })
      const answer = await admin.post(`${base}/deleteUsers`, [a.userName.toUpperCase(), 'nobody', b.userName])
      expect(answer.json()).toEqual({ accepted: [a.userName.toUpperCase(), b.userName], notFound: ['nobody'] })
      expect(await find(a.userName)).toBeUndefined()
      expect((await a.api.get(`${base}/profile`)).statusCode).toBe(401)
      expect((await admin.post(`${base}/deleteUsers`, { userName: 'x' })).statusCode).toBe(400)
    })

    it('deletes nothing if the list contains the caller', async () => {
      const admin = await t.admin()
      const user = await person(t)
      expect((await admin.post(`${base}/deleteUsers`, [user.userName, 'ADMIN'])).statusCode).toBe(409)
      expect(await find(user.userName)).toBeDefined()
    })
  })

  describe('own account', () => {
    it('changes the given members, but never the profile', async () => {
      const user = await person(t)
      const answer = await user.api.post(`${base}/updateuserdetails`, { email: 'ada@example.org', image: png })
      expect(answer.json()).toMatchObject({ email: 'ada@example.org', image: png, userProfile: 30 })
      for (const extra of [
        { userProfile: 10 },
        { isEnabled: true },
        { userName: 'admin' },
        { role: 'x' },
        { password: 'x' },
      ])
        expect((await user.api.post(`${base}/updateuserdetails`, extra)).statusCode).toBe(400)
      expect((await user.api.get(`${base}/getuserdetails`)).json()).toMatchObject({ userProfile: 30 })
    })

    it('changes the password if the old one is correct', async () => {
      const user = await person(t)
      const next = 'another fine password'
      const change = (body: unknown) => user.api.post(`${base}/updateuserdetails`, body)
      expect((await change({ newPassword: next })).json().code).toBe('validation_failed')
      expect((await change({ newPassword: next, oldPassword: 'wrong' })).json().code).toBe('old_password_wrong')
      expect((await change({ newPassword: 'short', oldPassword: user.password })).json().code).toBe('password_rejected')
      expect((await change({ newPassword: user.password, oldPassword: user.password })).json().code).toBe(
        'password_rejected',
      )
      expect((await change({ newPassword: next, oldPassword: user.password })).statusCode).toBe(200)
      await expect(t.signIn(user.userName, user.password)).rejects.toThrow('401')
      await t.signIn(user.userName, next)
    })

    it('limits guesses at the old password', async () => {
      const user = await person(t)
      const guess = () => user.api.post(`${base}/updateuserdetails`, { newPassword: 'x'.repeat(14), oldPassword: 'no' })
      const statuses = []
      for (let i = 0; i < 11; i++) statuses.push((await guess()).statusCode)
      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429])
    })

    it('returns the profile, navigation and licence to the console', async () => {
      const user = await person(t)
      const profile = (await user.api.get(`${base}/profile`)).json()
      expect(profile).toMatchObject({
        account: { userName: user.userName },
        license: { primeAccountName: 'Community', licenseStatus: 'Activated' },
        navigation: { startPage: '/' },
        sessions: [{ isCurrent: true }],
      })
      expect(profile.permissions).toContain('fleet:read')
      expect(profile.permissions).not.toContain('fleet:write')
    })
  })

  it('lets an account that must change its password use only its profile', async () => {
    const user = await person(t, { profile: 10, mustChangePassword: true })
    for (const path of ['admin/profile', 'admin/getuserdetails'])
      expect((await user.api.get(`/prime/webui/${path}`)).statusCode).toBe(200)
    for (const path of ['admin/all', 'admin/systemstatus', 'Auth/Sessions', 'agents', 'admin/apiTokens'])
      expect((await user.api.get(`/prime/webui/${path}`)).json().code).toBe('password_change_required')
    expect((await user.api.post('/prime/webui/Auth/Ticket')).statusCode).toBe(403)
    const next = 'another fine password'
    await user.api.post(`${base}/updateuserdetails`, { oldPassword: user.password, newPassword: next })
    const api = t.as(await t.signIn(user.userName, next))
    expect((await api.get(`${base}/all`)).statusCode).toBe(200)
    expect((await user.api.post('/prime/webui/Auth/Logout')).statusCode).toBe(401)
  })
})

describe('the last Administrator', () => {
  it('remains when two Administrators remove each other at the same time', async () => {
    const t = await startTestApp()
    await liftGate(t)
    try {
      for (let round = 0; round < 5; round++) {
        const names = (await (await t.admin()).get(`${base}/all`)).json().length
        expect(names).toBe(1)
        const other = await person(t, { profile: 10 })
        const admin = await t.admin()
        const [one, two] = await Promise.all([
          admin.post(`${base}/deleteUsers`, [other.userName]),
          round % 2 === 0
            ? other.api.post(`${base}/deleteUsers`, ['admin'])
            : other.api.post(`${base}/updateuser`, { userName: 'admin', userProfile: 30 }),
        ])
        const [row] = await t.db.query<{ n: number }>(
          sql`select count(*) as n from accounts a where a.user_profile = 10 and a.is_enabled`,
        )
        expect(row?.n).toBeGreaterThanOrEqual(1)
        expect([one.statusCode, two.statusCode].filter((status) => status === 200)).toHaveLength(1)
        if (two.statusCode === 200) break
      }
    } finally {
      await t.close()
    }
  })

  it('is a local account: a directory Administrator cannot delete, disable or demote it', async () => {
    const t = await startTestApp()
    await liftGate(t)
    try {
      const other = await person(t, { profile: 10 })
      await t.db.execute(
        sql`update accounts set auth_source = 'LDAP', password_hash = null where user_name = ${other.userName}`,
      )
      const demoted = await other.api.post(`${base}/updateuser`, { userName: 'admin', userProfile: 20 })
      const disabled = await other.api.post(`${base}/updateuser`, { userName: 'admin', isEnabled: false })
      const deleted = await other.api.post(`${base}/deleteUsers`, ['admin'])
      for (const answer of [demoted, disabled, deleted]) {
        expect(answer.statusCode).toBe(409)
        expect(answer.json().detail).toContain('the last Administrator who can sign in')
      }
    } finally {
      await t.close()
    }
  })

  it('is not an account without a password', async () => {
    const t = await startTestApp()
    await liftGate(t)
    try {
      const admin = await t.admin()
      await admin.post(`${base}/adduser`, { userName: 'invited', userProfile: 10 })
      const other = await person(t, { profile: 10 })
      expect((await other.api.post(`${base}/deleteUsers`, ['admin'])).statusCode).toBe(200)
      expect((await other.api.post(`${base}/deleteUsers`, [other.userName])).statusCode).toBe(409)
      expect((await other.api.post(`${base}/deleteUsers`, ['invited'])).statusCode).toBe(200)
    } finally {
      await t.close()
    }
  })
})
