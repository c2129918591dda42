import { addressBucket } from '@portcullis/platform/server/address.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { whileLocked } from '@portcullis/server/test/locked.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const signin = '/prime/webui/auth/signin'
const login = '/prime/webui/Auth/LocalLogin'

describe('signing in', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp()
  })
  afterAll(() => t.close())

  const from = (ip: string, url: string, payload: unknown, headers: Record<string, string> = {}) =>
    t.request({
      method: 'POST',
      url,
      remoteAddress: ip,
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(payload),
    })

  it('answers auth/signin in its fixed format', async () => {
    const answer = await from('192.0.2.1', signin, { username: 'admin', password: adminPassword })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      user: expect.objectContaining({ userName: 'admin', password: null, userProfile: 10 }),
      navigation: { startPage: '/' },
      license: { primeAccountName: 'Community', licenseStatus: 'Activated' },
    })
    expect(Object.keys(answer.json())).toEqual(['token', 'user', 'navigation', 'license'])
    expect((await t.as(answer.json().token).get('/prime/webui/admin/profile')).statusCode).toBe(200)
  })

  it('answers every refusal of auth/signin with 400 and a short text', async () => {
    const user = await person(t)
    await (await t.admin()).post('/prime/webui/admin/updateuser', { userName: user.userName, isEnabled: false })
    const bodies: unknown[] = [
      { username: 'admin', password: 'wrong' },
      { username: 'nobody', password: 'wrong' },
      { username: user.userName, password: user.password },
      { username: 'admin' },
      { username: 'admin', password: 1 },
      { username: 'admin', password: adminPassword, extra: 1 },
      'not json',
    ]
    for (const body of bodies) {
      const answer = await from('192.0.2.2', signin, body)
      expect([body, answer.statusCode]).toEqual([body, 400])
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
      expect(answer.body.length).toBeLessThan(200)
    }
    const json = await from(
      '192.0.2.2',
      signin,
      { username: 'admin', password: 'wrong' },
      { accept: 'application/json' },
    )
    expect(json.json()).toMatchObject({ status: 400, code: 'signin_refused' })
    const media = await from('192.0.2.2', signin, {}, { 'content-type': 'application/xml' })
    expect(media.statusCode).toBe(400)
  })

  it('answers LocalLogin with an expiry that always has a fraction', async () => {
    const answer = await from('192.0.2.1', login, { Username: 'ADMIN', PASSWORD: adminPassword })
    expect(Object.keys(answer.json())).toEqual(['token', 'expiresAt', 'refreshToken', 'user', 'license'])
    expect(answer.json().expiresAt).toBe('2031-05-04T10:26:12.000Z')
    expect(answer.headers['set-cookie']).toBeUndefined()
    for (const body of [
      { username: 'admin', password: 'wrong' },
      { username: 'nobody', password: adminPassword },
      { username: 'admin', password: '' },
    ]) {
      const refused = await from('192.0.2.3', login, body)
      expect([refused.statusCode, refused.json().code, refused.json().detail]).toEqual([
        401,
        'credentials_wrong',
        'The user name or password is incorrect.',
      ])
    }
    expect((await from('192.0.2.3', login, { username: 'admin' })).statusCode).toBe(400)
  })

  it('checks ten guesses per account from unknown addresses and still accepts the owner', async () => {
    const user = await person(t)
    const statuses: number[] = []
    for (let i = 0; i < 14; i++)
      statuses.push((await from(`198.51.100.${i}`, login, { username: user.userName, password: `no ${i}` })).statusCode)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), ...Array.from({ length: 4 }, () => 429)])
    const strange = await from('198.51.100.99', login, { username: user.userName, password: user.password })
    expect(strange.statusCode).toBe(429)
    expect(Number(strange.headers['retry-after'])).toBe(900)
    // The owner signed in from 127.0.0.1 when the account was created.
    await t.signIn(user.userName, user.password)
    const plain = await from('198.51.100.99', signin, { username: user.userName, password: user.password })
    expect([plain.statusCode, plain.body]).toEqual([400, 'Too many requests. Try again in 900 seconds.'])
    t.clock.advance(15 * 60_000 + 1)
    expect((await from('198.51.100.99', login, { username: user.userName, password: user.password })).statusCode).toBe(
      200,
    )
  })

  it('checks no more than ten simultaneous guesses', async () => {
    const user = await person(t)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        from(`203.0.113.${i}`, login, { username: user.userName, password: `guess ${i}` }),
      ),
    )
    expect(answers.filter((answer) => answer.statusCode === 401)).toHaveLength(10)
    expect(answers.filter((answer) => answer.statusCode === 429)).toHaveLength(30)
  })

  it('checks 100 guesses per address over any number of names, known or not', async () => {
    const answers: number[] = []
    for (let batch = 0; batch < 11; batch++)
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 10 }, (_, i) =>
            from('198.18.0.1', login, { username: `spray-${batch}-${i}`, password: 'x' }),
          ),
        ).then((all) => all.map((answer) => answer.statusCode))),
      )
    expect(answers.filter((status) => status === 401)).toHaveLength(100)
    expect(answers.filter((status) => status === 429)).toHaveLength(10)
  })

  it('never limits correct sign-ins', async () => {
    const user = await person(t)
    for (let batch = 0; batch < 13; batch++) {
      const all = await Promise.all(
        Array.from({ length: 10 }, () =>
          from('198.18.0.2', signin, { username: user.userName, password: user.password }),
        ),
      )
      expect(all.map((answer) => answer.statusCode)).toEqual(Array.from({ length: 10 }, () => 200))
    }
  })

  it('opens no session if the password changed during the check', async () => {
    const user = await person(t)
    const its = sql`user_name = ${user.userName}`
    // The password is correct. Opening the session waits for the row.
    const answer = await whileLocked(
      t,
      {
        lock: sql`select from accounts where ${its} for update`,
        n: 1,
        change: sql`update accounts set token_version = token_version + 1 where ${its}`,
      },
      () => from('198.51.100.200', login, { username: user.userName, password: user.password }),
    )
    expect(answer.statusCode).toBe(401)
  })

  it('counts failures of one account and address in one audit record', async () => {
    const user = await person(t)
    const records = async () =>
      (
        await t.db.query<{ record: { entity: string; details: string; sourceIp: string; userName: string } }>(sql`
          select r.record::jsonb as record from audit_records r where r.action = 'session.refused'
            and r.record::jsonb ->> 'sourceIp' = '198.18.7.7' order by r.audit_id`)
      ).map((row) => row.record)
    for (let i = 0; i < 6; i++)
      await from('198.18.7.7', login, { username: user.userName, password: 'hunter2 hunter2' })
    for (let i = 0; i < 3; i++) await from('198.18.7.7', login, { username: 'my secret password', password: 'x' })
    expect((await records()).map((r) => [r.entity, r.userName])).toEqual([
      [user.userName, 'anonymous'],
      // A name without an account may be a password typed into the wrong field.
      ['an unknown account', 'anonymous'],
    ])
    t.clock.advance(15 * 60_000 + 1)
    await t.accounts.maintain()
    await t.accounts.maintain()
    const counts = (await records()).slice(2).map((r) => r.details)
    expect(counts.sort()).toEqual(['3 failed sign-ins within 15 minutes.', '6 failed sign-ins within 15 minutes.'])
    expect(JSON.stringify(await records())).not.toContain('hunter2')
  })

  it('counts an IPv6 network as one address', () => {
    expect(addressBucket('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(addressBucket('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64')
    expect(addressBucket('2001:db8::1')).toBe('2001:db8:0:0::/64')
    expect(addressBucket('::ffff:192.0.2.7')).toBe('192.0.2.7')
    expect(addressBucket('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
    expect(addressBucket('192.0.2.7')).toBe('192.0.2.7')
  })

  it('shows without sign-in which sign-in methods are on', async () => {
    await t.db.execute(sql`insert into config_items (name, value) values ('CUSTOM_LOGIN_TITLE', 'Plant 7')`)
    const answer = await t.as(undefined).get('/prime/webui/Auth/Providers')
    expect(answer.json()).toMatchObject({
      local: true,
      ldap: false,
      oidc: [],
      customLogin: { CUSTOM_LOGIN_TITLE: 'Plant 7', CUSTOM_LOGIN_MESSAGE: '' },
    })
  })
})

describe('set-password links', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp()
  })
  afterAll(() => t.close())

  const invite = async (userName: string, headers: Record<string, string> = {}) => {
    const admin = await t.admin()
    const made = (await admin.post('/prime/webui/admin/adduser', { userName, userProfile: 30 }, headers)).json()
    return {
      url: made.setPasswordUrl as string,
      expiresAt: made.setPasswordExpiresAt,
      token: made.setPasswordUrl.split('#token=')[1],
    }
  }
  const set = (token: string, newPassword: string) =>
    t.as(undefined).post('/prime/webui/Auth/SetPassword', { token, newPassword })

  it('work once, and refuse a password that breaks the rules', async () => {
    const { token, expiresAt } = await invite('linked')
    expect(expiresAt).toBe('2031-05-06T10:11:12.000Z')
    await expect(t.signIn('linked', '')).rejects.toThrow('401')
    expect((await set(token, 'short')).json().code).toBe('password_rejected')
    expect((await set(token, 'linked by a letter')).json()).toEqual({ userName: 'linked', apiTokensLeft: 0 })
    await t.signIn('linked', 'linked by a letter')
    expect((await set(token, 'a second password')).json().code).toBe('link_invalid')
    const stored = await t.db.query<{ hash: Buffer }>(sql`select l.token_hash as hash from password_links l`)
    expect(stored.map((row) => row.hash.toString())).not.toContain(token)
  })

  it('end the sessions of the former password', async () => {
    const { token } = await invite('renewed')
    await set(token, 'the first password')
    const former = t.as(await t.signIn('renewed', 'the first password'))
    expect((await former.get('/prime/webui/admin/profile')).statusCode).toBe(200)
    const link = await t.server.accounts.resetPassword('renewed', false)
    expect((await set(link?.url.split('#token=')[1] ?? '', 'the second password')).statusCode).toBe(200)
    const sessions = await t.db.query(sql`
      select from sessions s join accounts a using (account_id) where a.user_name = 'renewed'`)
    expect([(await former.get('/prime/webui/admin/profile')).statusCode, sessions.length]).toEqual([401, 0])
  })

  it('work for only one of two simultaneous uses', async () => {
    const { token } = await invite('raced')
    const answers = await Promise.all([set(token, 'the first password'), set(token, 'the other password')])
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([200, 400])
  })

  it('stop working when the password changes, they expire, or the account is deleted or disabled', async () => {
    const admin = await t.admin()
    const [changed, late, gone, disabled] = [
      await invite('l1'),
      await invite('l2'),
      await invite('l3'),
      await invite('l4'),
    ]
    await admin.post('/prime/webui/admin/updateuser', { userName: 'l1', password: 'set by somebody else' })
    await admin.post('/prime/webui/admin/deleteUsers', ['l3'])
    await admin.post('/prime/webui/admin/updateuser', { userName: 'l4', isEnabled: false })
    for (const link of [changed, gone, disabled])
      expect((await set(link.token, 'too late by now')).json().code).toBe('link_invalid')
    t.clock.advance(48 * 3_600_000)
    expect((await set(late.token, 'too late by now')).json().code).toBe('link_invalid')
    for (const token of ['', 'x', `${late.token}x`, `pl_${'A'.repeat(53)}`, `${late.token}\n`])
      expect((await set(token, 'a password at last')).statusCode).toBe(400)
  })

  it('point to the configured address, not to that of the Host header', async () => {
    const hostile = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
      host: 'evil.example',
    }
    const t2 = await startTestApp()
    try {
      const ask = async (userName: string) =>
        (await (await t2.admin()).post('/prime/webui/admin/adduser', { userName, userProfile: 30 }, hostile)).json()
          .setPasswordUrl as string
      expect(await ask('h1')).toMatch(/^http:\/\/portcullis\.test\/set-password#token=pl_/)
      for (const [name, base] of [
        ['usb.example.org', 'http://usb.example.org/'],
        ['usb.example.org:8443', 'http://usb.example.org:8443/'],
        ['https://usb.example.org/', 'https://usb.example.org/'],
      ] as const) {
        await t2.db.execute(sql`
          insert into config_items (name, value) values ('SERVER_DOMAIN_NAME', ${name})
          on conflict (name) do update set value = excluded.value`)
        expect((await ask(`h-${base.length}-${name.length}`)).startsWith(`${base}set-password#token=`)).toBe(true)
      }
    } finally {
      await t2.close()
    }
  })
})

describe('the first start', () => {
  it('creates admin once, with a password that must be changed', async () => {
    const t = await startTestApp()
    try {
      expect(await t.accounts.ensureFirstAdministrator(null)).toBeNull()
      await t.db.execute(sql`delete from accounts`)
      const [one, two] = await Promise.all([
        t.accounts.ensureFirstAdministrator(null),
        t.accounts.ensureFirstAdministrator(null),
      ])
      const made = one ?? two
      expect([one, two].filter((credentials) => credentials !== null)).toHaveLength(1)
      expect(made?.userName).toBe('admin')
      expect(made?.password).toMatch(/^(?:[a-z2-9]{4}-){4}[a-z2-9]{4}$/)
      const api = t.as(await t.signIn('admin', made?.password))
      expect((await api.get('/prime/webui/admin/profile')).json().account.mustChangePassword).toBe(true)
      expect((await api.get('/prime/webui/admin/all')).statusCode).toBe(403)
    } finally {
      await t.close()
    }
  })
})
