import type { AppError } from '@portcullis/platform/server/app-error.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { profiles } from '#features/contract.ts'
import { type AccessClaims, createAccessTokens } from './access-tokens.ts'
import { assertImage, assertPassword, assertUserName, nameKey, passwordFault } from './accounts.rules.ts'
import type { AccountRow } from './accounts.store.ts'
import { accountLabels, changedFacts, differences } from './changes.ts'
import { assertFreshForAccount } from './fresh.ts'
import { createSigninLimits } from './signin.limits.ts'
import { assertNotSuspended, isSuspended, suspensionMs } from './suspension.rules.ts'
import { defaultExpiry, latestExpiry, stepOf } from './token-expiry.rules.ts'

/** Unlike the helpers of other tests, this starts no database. */
const createClock = () => {
  let now = Date.UTC(2031, 4, 4, 10, 11, 12)
  return {
    now: () => now,
    advance(ms: number): void {
      now += ms
    },
  }
}
const row: AccountRow = {
  ...{ account_id: 'a', user_name: 'Ada', name_key: 'ada', password_hash: 'h', user_profile: 30, first_name: 'Ada' },
  ...{ last_name: 'L', email: 'ada@example.com', phone: null, image: '', auth_source: 'Local', is_enabled: true },
  ...{ must_change_password: false, mfa_enabled: false, token_version: 1, last_sign_in: null, external_issuer: null },
  ...{ external_id: null, withdrawn_at: null, confirmed_at: null, suspended_until: null, suspended_by: null },
  ...{ factor_exempt_until: null, created_at: new Date(0) },
}
const faultOf = (work: () => unknown): string => {
  try {
    work()
    return ''
  } catch (error) {
    const { code, errors } = error as AppError
    return errors[0] === undefined ? code : `${errors[0].field} ${errors[0].message}`
  }
}

describe('the name of an account', () => {
  it('is compared without case and composition', () => {
    expect(nameKey('ADA')).toBe('ada')
    expect(nameKey('Zoe\u0308')).toBe(nameKey('ZO\u00cb'))
  })

  it('is neither reserved nor odd', () => {
    expect(faultOf(() => assertUserName('ada'))).toBe('')
    for (const name of ['system', 'Anonymous', 'ENROLMENT'])
      expect(faultOf(() => assertUserName(name))).toBe('body.userName is reserved for the product')
    expect(faultOf(() => assertUserName('a\u202eda'))).toBe(
      'body.userName must not contain invisible or text direction characters',
    )
  })
})

describe('a password', () => {
  it.each([
    ['x'.repeat(11), 'The password has 11 characters; at least 12 are needed.'],
    ['zq-kfpwmvhrt', null],
    ['\u{1f600}'.repeat(11), 'The password has 11 characters; at least 12 are needed.'],
    ['e\u0308'.repeat(11), 'The password has 11 characters; at least 12 are needed.'],
    ['zq-kfpwmvhrt'.repeat(11).slice(0, 128), null],
    ['zq-kfpwmvhrt'.repeat(11).slice(0, 129), 'The password has 129 characters; at most 128 are allowed.'],
    ['ADA-LOVELACE', 'The password is the same as the user name.'],
    ['password1234', 'The password is on the list of common passwords.'],
  ])('%j: %s', (password, fault) => {
    expect(passwordFault(password, 'ada-lovelace')).toBe(fault)
    const refusal = expect(() => assertPassword(password, 'ada-lovelace'))
    if (fault === null) refusal.not.toThrow()
    else
      refusal.toThrow(expect.objectContaining({ code: 'password_rejected', message: expect.stringContaining(fault) }))
  })
})

describe('a picture', () => {
  const uri = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`
  const png = Buffer.from('89504e470d0a1a0a00', 'hex')
  const jpeg = Buffer.from('ffd8ff00', 'hex')
  const webp = Buffer.from('RIFFxxxxWEBPVP8 ')
  const refused = 'body.image must be a data URI of a png, jpeg or webp picture, base64, at most 256 KiB'

  it('may be empty, png, jpeg or webp', () => {
    for (const image of ['', uri('png', png), uri('jpeg', jpeg), uri('webp', webp)])
      expect(faultOf(() => assertImage(image))).toBe('')
  })

  it.each([
    uri('png', jpeg),
    uri('png', png.subarray(0, 7)),
    uri('jpeg', png),
    uri('jpeg', jpeg.subarray(0, 2)),
    uri('webp', Buffer.from('RIFXxxxxWEBPVP8 ')),
    uri('webp', Buffer.from('RIFFxxxxWAVEfmt ')),
    uri('svg+xml', Buffer.from('<svg/>')),
    uri('toString', png),
    ` ${uri('png', png)}`,
    `${uri('png', png)} `,
    `data:image/png;base64,*${png.toString('base64')}`,
    'data:image/png;base64,',
    'https://example.com/a.png',
  ])('is not %s', (image) => {
    expect(faultOf(() => assertImage(image))).toBe(refused)
  })

  it('has at most 256 KiB as text', () => {
    const of = (length: number) => uri('jpeg', jpeg.subarray(0, 3)).padEnd(length, 'A')
    expect(faultOf(() => assertImage(of(256 * 1024)))).toBe('')
    expect(faultOf(() => assertImage(of(256 * 1024 + 1)))).toBe(refused)
  })
})

describe('a change of an account', () => {
  const after: AccountRow = {
    ...{ ...row, user_profile: 10, first_name: 'Augusta', last_name: 'K', email: '', phone: '1' },
    ...{ is_enabled: false, must_change_password: true, image: 'data:', password_hash: 'other' },
  }

  it('names every member that changed', () => {
    expect(changedFacts(row, after)).toEqual([
      { name: 'Profile', before: 'User', after: 'Administrator' },
      { name: 'First name', before: 'Ada', after: 'Augusta' },
      { name: 'Last name', before: 'L', after: 'K' },
      { name: 'Email', before: 'ada@example.com', after: '' },
      { name: 'Phone', before: '', after: '1' },
      { name: 'Enabled', before: 'yes', after: 'no' },
      { name: 'Must change password', before: 'no', after: 'yes' },
      { name: 'Picture', before: '', after: 'changed' },
      { name: 'Password', before: '', after: 'changed' },
    ])
    expect(differences(row, after)).toBe(
      [
        ...['userProfile: 30 → 10', 'firstName: "Ada" → "Augusta"', 'lastName: "L" → "K"'],
        ...['email: "ada@example.com" → ""', 'phone: null → "1"', 'isEnabled: true → false'],
        ...['mustChangePassword: false → true', 'image: changed', 'password: changed'],
      ].join('; '),
    )
  })

  it('names members that only requests change', () => {
    expect([accountLabels.userName, accountLabels.revokeApiTokens]).toEqual(['User name', 'Revoke API tokens'])
  })

  it('of nothing is empty', () => {
    expect([changedFacts(row, { ...row }), differences(row, { ...row, token_version: 9 })]).toEqual([[], ''])
  })
})

describe('fresh authentication', () => {
  const now = 1_000_000_000
  const actor = (authenticatedAt: number): Actor => ({ ...systemActor('ada'), kind: 'session', authenticatedAt })
  const needs = (change: Parameters<typeof assertFreshForAccount>[2]) => {
    expect(faultOf(() => assertFreshForAccount(actor(now), now, change))).toBe('')
    return faultOf(() => assertFreshForAccount(actor(0), now, change)) === 'reauthentication_required'
  }
  const of = (user_profile: AccountRow['user_profile']) => ({ ...row, user_profile })

  it('is needed to create or delete accounts that control hosts', () => {
    expect([10, 20, 30].map((made) => needs({ made: made as never }))).toEqual([true, true, false])
    expect([10, 20, 30].map((profile) => needs({ deleted: of(profile as never) }))).toEqual([true, true, false])
  })

  it('is needed to change who can sign in with such an account', () => {
    const changes: Partial<AccountRow>[] = [
      ...[{ user_profile: 30 as const }, { password_hash: 'x' }, { is_enabled: false }, { must_change_password: true }],
      ...[{ email: 'x' }, { first_name: 'x' }, { phone: 'x' }],
    ]
    expect(changes.map((change) => needs({ before: of(20), after: { ...of(20), ...change } }))).toEqual([
      ...[true, true, true, true, true, false, false],
    ])
    expect(changes.map((change) => needs({ before: row, after: { ...row, ...change } }))).toEqual(
      changes.map(() => false),
    )
    expect(needs({ before: row, after: of(20) })).toBe(true)
  })

  it('means that profiles above User control hosts', () => {
    expect(profiles).toEqual({ administrator: 10, manager: 20, user: 30 })
  })
})

describe('a suspension', () => {
  it('lasts a day', () => {
    expect(suspensionMs).toBe(86_400_000)
  })

  it('ends at its time', () => {
    const until = { suspended_until: new Date('2031-05-04T10:11:12.000Z') }
    const at = (offset: number) => until.suspended_until.getTime() + offset
    expect([isSuspended(until, at(-1)), isSuspended(until, at(0)), isSuspended({ suspended_until: null }, 0)]).toEqual([
      ...[true, false, false],
    ])
    expect(faultOf(() => assertNotSuspended(until, at(0)))).toBe('')
    expect(() => assertNotSuspended(until, at(-1))).toThrow('2031-05-04 10:11 UTC')
  })
})

describe('the expiry of a token', () => {
  const now = new Date('2031-05-04T10:11:12.000Z')
  it('is in 90 days, and in a year at the latest', () => {
    expect(defaultExpiry(now).toISOString()).toBe('2031-08-02T10:11:12.000Z')
    expect(latestExpiry(now).toISOString()).toBe('2032-05-04T10:11:12.000Z')
  })

  it('is near 14 and 3 days before', () => {
    const days = [15, 14, 4, 3, 1 / 86_400_000, 0, -1]
    expect(days.map((left) => stepOf(new Date(now.getTime() + left * 86_400_000), now.getTime()))).toEqual([
      ...[0, 1, 1, 2, 2, 3, 3],
    ])
  })
})

describe('limits of sign-ins in memory', () => {
  it('hold until their time, except for exempt names', () => {
    const clock = createClock()
    const limits = createSigninLimits(clock)
    expect(limits.secondsOf('ip:a', 'ada')).toBeNull()
    limits.add('ip:a', clock.now() + 1_500, new Set(['bob']))
    expect([limits.secondsOf('ip:a', 'ada'), limits.secondsOf('ip:a', 'bob')]).toEqual([2, null])
    limits.signedIn('ip:a', 'a', 'eve')
    expect([limits.secondsOf('ip:a', 'eve'), limits.secondsOf('ip:a', 'bob')]).toEqual([null, null])
    clock.advance(1_499)
    expect(limits.secondsOf('ip:a', 'ada')).toBe(1)
    clock.advance(1)
    expect(limits.secondsOf('ip:a', 'ada')).toBeNull()
    limits.signedIn('ip:none', 'b', 'eve')
    expect([limits.isKnownSource('a'), limits.isKnownSource('b'), limits.isKnownSource('c')]).toEqual([
      ...[true, true, false],
    ])
    limits.setSources(['c'])
    expect([limits.isKnownSource('a'), limits.isKnownSource('c')]).toEqual([false, true])
  })

  it('are 10,000, and the oldest goes first', () => {
    const clock = createClock()
    const limits = createSigninLimits(clock)
    for (let i = 0; i < 10_000; i++) limits.add(`ip:${i}`, clock.now() + 9_000)
    expect(limits.secondsOf('ip:0', '')).toBe(9)
    limits.add('ip:0', clock.now() + 9_000)
    limits.add('ip:new', clock.now() + 9_000)
    expect(['ip:0', 'ip:1', 'ip:2', 'ip:new'].map((bucket) => limits.secondsOf(bucket, ''))).toEqual([9, null, 9, 9])
  })

  it('count refusals of 10,000 addresses since the last call', () => {
    const limits = createSigninLimits(createClock())
    limits.refused('a', '10.0.0.1')
    limits.refused('a', '10.0.0.2')
    for (let i = 0; i < 10_000; i++) limits.refused(`b${i}`, '10.0.0.3')
    limits.refused('a', '10.0.0.2')
    const taken = limits.takeRefused()
    expect([taken.length, taken[0], taken[1]]).toEqual([
      10_000,
      { ip: '10.0.0.1', count: 3 },
      { ip: '10.0.0.3', count: 1 },
    ])
    expect(limits.takeRefused()).toEqual([])
  })
})

describe('an access token', () => {
  const key = Buffer.alloc(32, 7)
  const claims: AccessClaims = {
    ...{ accountId: '00000000-0000-4000-8000-000000000001', sessionId: '00000000-0000-4000-8000-000000000002' },
    version: 3,
  }
  const setUp = async () => {
    const clock = createClock()
    const tokens = await createAccessTokens({ key: new Secret(key), clock })
    const now = Math.floor(clock.now() / 1_000)
    const forge = (change: (jwt: SignJWT) => SignJWT, signer: Uint8Array = key, payload: object = {}, header = {}) =>
      change(
        new SignJWT({ sid: claims.sessionId, ver: 3, ...payload })
          .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header })
          .setSubject(claims.accountId)
          .setIssuer('portcullis')
          .setAudience('portcullis-console')
          .setIssuedAt(now)
          .setExpirationTime(now + 900),
      ).sign(signer)
    return { clock, tokens, now, forge }
  }

  it('is valid for 15 minutes, or until its session ends', async () => {
    const { clock, tokens, now } = await setUp()
    const { token, expiresAt } = await tokens.sign(claims, (now + 3_600) * 1_000)
    expect(expiresAt).toBe((now + 900) * 1_000)
    expect(await tokens.read(token)).toEqual(claims)
    expect((await tokens.sign(claims, (now + 60) * 1_000 + 999)).expiresAt).toBe((now + 60) * 1_000)
    clock.advance(900_000)
    expect(await tokens.read(token)).toBeNull()
  })

  it('is genuine as forged here', async () => {
    const { tokens, forge } = await setUp()
    expect(await tokens.read(await forge((jwt) => jwt))).toEqual(claims)
  })

  it.each<[string, (jwt: SignJWT, now: number) => SignJWT, object?, Uint8Array?, object?]>([
    ['of another key', (jwt) => jwt, {}, Buffer.alloc(32, 8)],
    ['of another algorithm', (jwt) => jwt, {}, Buffer.alloc(64, 7), { alg: 'HS512' }],
    ['of another type', (jwt) => jwt, {}, key, { typ: 'JWT' }],
    ['with another header', (jwt) => jwt, {}, key, { kid: '1' }],
    ['of another issuer', (jwt) => jwt.setIssuer('other')],
    ['for another audience', (jwt) => jwt.setAudience('other')],
    ['for several audiences', (jwt) => jwt.setAudience(['portcullis-console', 'other'])],
    ['for longer than 15 minutes', (jwt, now) => jwt.setExpirationTime(now + 901)],
    ['from later than a minute', (jwt, now) => jwt.setIssuedAt(now + 62).setExpirationTime(now + 900)],
    ['for something that is not an account', (jwt) => jwt.setSubject('ada')],
    ['of something that is not a session', (jwt) => jwt, { sid: 'session' }],
    ['of a session that is not a string', (jwt) => jwt, { sid: 1 }],
    ['with a version that is not a number', (jwt) => jwt, { ver: '3' }],
    ['without a version', (jwt) => jwt, { ver: undefined }],
    ['of a list with a session', (jwt) => jwt, { sid: [claims.sessionId] }],
  ])('%s is refused', async (_, change, payload, signer, header) => {
    const { tokens, now, forge } = await setUp()
    expect(await tokens.read(await forge((jwt) => change(jwt, now), signer, payload, header))).toBeNull()
  })

  it('without an expiry is refused', async () => {
    const { tokens, now } = await setUp()
    const jwt = new SignJWT({ sid: claims.sessionId, ver: 3 })
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
      .setSubject(claims.accountId)
      .setIssuer('portcullis')
      .setAudience('portcullis-console')
      .setIssuedAt(now)
    expect(await tokens.read(await jwt.sign(key))).toBeNull()
    expect(await tokens.read(await jwt.setExpirationTime(now + 900).sign(key))).toEqual(claims)
  })

  it('may be from up to a minute later, because clocks differ', async () => {
    const { tokens, now, forge } = await setUp()
    const token = await forge((jwt) => jwt.setIssuedAt(now + 60).setExpirationTime(now + 900))
    expect(await tokens.read(token)).toEqual(claims)
  })

  it.each(['', 'a.b', ' a.b.c', 'a.b.c ', 'a.b.c.d', 'a.!.c', 'a.b.c'])('%j is not a token', async (text) => {
    expect(await (await setUp()).tokens.read(text)).toBeNull()
  })
})
