import { createHash, createPrivateKey, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalLoginAnswer, MfaRequired, MfaState } from '#features/contract.ts'

const base = '/prime/webui/Auth'
const origin = 'https://portcullis.example.org'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

const post = async (path: string, payload: unknown, token?: string) =>
  t.request({
    method: 'POST',
    url: path,
    payload: payload as object,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  })
const get = async (path: string, token: string) =>
  t.request({ method: 'GET', url: path, headers: { authorization: `Bearer ${token}` } })
const login = async (username: string, password: string) => post(`${base}/LocalLogin`, { username, password })
const tokenOf = async (username: string, password: string): Promise<string> =>
  ((await login(username, password)).json() as LocalLoginAnswer).token
const pending = async (username: string, password: string): Promise<MfaRequired> => {
  const answer = await login(username, password)
  expect(answer.statusCode, answer.body).toBe(200)
  expect(answer.json()).toMatchObject({ mfaRequired: true })
  return answer.json()
}
const finish = (mfaToken: string, given: object) => post(`${base}/Mfa/signin`, { mfaToken, ...given })
const codeOf = (secret: string): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: t.clock.now() })

/** Creates an account with an authenticator app. */
const withTotp = async (): Promise<{ userName: string; password: string; secret: string; recoveryCodes: string[] }> => {
  const { userName, password } = await person(t, { profile: 20 })
  const token = await tokenOf(userName, password)
  expect((await post(`${base}/Mfa/totp/start`, { password: 'wrong' }, token)).json().code).toBe('old_password_wrong')
  const { secret, uri } = (await post(`${base}/Mfa/totp/start`, { password }, token)).json()
  expect(uri).toMatch(/^otpauth:\/\/totp\/Portcullis:/)
  // An unconfirmed app does not change the sign-in.
  expect((await login(userName, password)).json()).toHaveProperty('token')
  expect((await post(`${base}/Mfa/totp/confirm`, { code: '000000' }, token)).json().code).toBe('mfa_code_wrong')
  const { recoveryCodes } = (await post(`${base}/Mfa/totp/confirm`, { code: codeOf(secret) }, token)).json()
  expect(recoveryCodes).toHaveLength(10)
  t.clock.advance(30_000)
  return { userName, password, secret, recoveryCodes }
}

describe('an authenticator app', () => {
  it('is required after the password and accepts each code once; SOAR clients get 400', async () => {
    const { userName, password, secret } = await withTotp()
    const soar = await post('/prime/webui/auth/signin', { username: userName, password })
    expect(soar.statusCode).toBe(400)
    const { mfaToken, methods } = await pending(userName, password)
    expect(methods).toEqual(['totp', 'recovery'])
    expect((await finish(mfaToken, { code: '123456' })).json().code).toBe('mfa_code_wrong')
    const code = codeOf(secret)
    const signed = await finish(mfaToken, { code: `${code.slice(0, 3)} ${code.slice(3)}` })
    expect(signed.statusCode, signed.body).toBe(200)
    expect(signed.json().user).toMatchObject({ userName, mfaEnabled: true })
    // The token and the code work only once.
    expect((await finish(mfaToken, { code })).json().code).toBe('session_ended')
    expect((await finish((await pending(userName, password)).mfaToken, { code })).json().code).toBe('mfa_code_wrong')
  })

  it('accepts codes of one step before and after, but no others', async () => {
    const { userName, password, secret } = await withTotp()
    const { mfaToken } = await pending(userName, password)
    const now = t.clock.now()
    const codeAt = (ms: number) => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now + ms })
    expect((await finish(mfaToken, { code: codeAt(90_000) })).json().code).toBe('mfa_code_wrong')
    expect((await finish(mfaToken, { code: codeAt(60_000) })).json().code).toBe('mfa_code_wrong')
    expect((await finish(mfaToken, { code: codeAt(30_000) })).json()).toHaveProperty('token')
  })

  it('cannot be guessed: five attempts per password, ten per 15 minutes', async () => {
    const { userName, password } = await withTotp()
    const tries: number[] = []
    for (let round = 0; round < 3; round++) {
      const { mfaToken } = await pending(userName, password)
      for (let i = 0; i < 6; i++) tries.push((await finish(mfaToken, { code: '111111' })).statusCode)
    }
    expect(tries.slice(0, 6)).toEqual([401, 401, 401, 401, 401, 401])
    expect(tries.filter((status) => status === 429).length).toBeGreaterThan(0)
    expect((await finish('pmf_x', { code: '111111' })).statusCode).toBe(401)
    const { mfaToken } = await pending(userName, password)
    expect((await finish(mfaToken, {})).statusCode).toBe(400)
    expect((await finish(mfaToken, { code: '111111', recoveryCode: 'x' })).statusCode).toBe(400)
    t.clock.advance(6 * 60_000)
    expect((await finish(mfaToken, { code: '111111' })).json().code).toBe('session_ended')
    t.clock.advance(15 * 60_000)
  })

  it('accepts the correct code on the fifth attempt, but not on the sixth', async () => {
    const { userName, password, secret } = await withTotp()
    const wrongTries = async (mfaToken: string, n: number): Promise<void> => {
      for (let i = 0; i < n; i++)
        expect((await finish(mfaToken, { code: '111111' })).json().code, `try ${i + 1}`).toBe('mfa_code_wrong')
    }
    const first = await pending(userName, password)
    await wrongTries(first.mfaToken, 5)
    const sixth = await finish(first.mfaToken, { code: codeOf(secret) })
    expect([sixth.statusCode, sixth.json().code]).toEqual([401, 'session_ended'])
    t.clock.advance(16 * 60_000)
    const second = await pending(userName, password)
    await wrongTries(second.mfaToken, 4)
    expect((await finish(second.mfaToken, { code: codeOf(secret) })).json()).toHaveProperty('token')
  })

  it('accepts the correct code on the tenth attempt within 15 minutes, but not on the eleventh', async () => {
    const { userName, password, secret } = await withTotp()
    const wrongTries = async (n: number): Promise<void> => {
      for (let i = 0; i < n; i += 3) {
        const { mfaToken } = await pending(userName, password)
        for (let k = i; k < Math.min(n, i + 3); k++)
          expect((await finish(mfaToken, { code: '111111' })).statusCode, `try ${k + 1}`).toBe(401)
      }
    }
    await wrongTries(9)
    expect((await finish((await pending(userName, password)).mfaToken, { code: codeOf(secret) })).statusCode).toBe(200)
    t.clock.advance(16 * 60_000)
    await wrongTries(10)
    const { mfaToken } = await pending(userName, password)
    expect((await finish(mfaToken, { code: codeOf(secret) })).statusCode).toBe(429)
    t.clock.advance(16 * 60_000)
    const later = await pending(userName, password)
    expect((await finish(later.mfaToken, { code: codeOf(secret) })).statusCode).toBe(200)
  })

  it('can be replaced when lost: each recovery code works once, and another Administrator can remove the app', async () => {
    const { userName, password, recoveryCodes } = await withTotp()
    const [first] = recoveryCodes as [string]
    const use = async (code: string) => finish((await pending(userName, password)).mfaToken, { recoveryCode: code })
    const signed = await use(first.toUpperCase().replaceAll('-', ' '))
    expect(signed.statusCode, signed.body).toBe(200)
    expect((await use(first)).statusCode).toBe(401)
    const token = signed.json().token as string
    const state = (await get(`${base}/Mfa`, token)).json() as MfaState
    expect(state).toMatchObject({ totp: true, recoveryCodesLeft: 9 })
    const { recoveryCodes: fresh } = (await post(`${base}/Mfa/recoverycodes`, { password }, token)).json()
    expect((await use(recoveryCodes[1] as string)).statusCode).toBe(401)
    expect((await use(fresh[0])).statusCode).toBe(200)

    const manager = await person(t, { profile: 20 })
    expect((await manager.api.post('/prime/webui/admin/resetmfa', { userName })).statusCode).toBe(403)
    const admin = await t.admin()
    expect((await admin.post('/prime/webui/admin/resetmfa', { userName: 'admin' })).statusCode).toBe(403)
    expect((await admin.post('/prime/webui/admin/resetmfa', { userName })).json()).toEqual({ reset: true })
    expect((await get(`${base}/Mfa`, token)).statusCode).toBe(401)
    const { refreshToken } = signed.json()
    expect((await post(`${base}/RefreshToken`, { refreshToken })).json().code).toBe('session_ended')
    expect((await login(userName, password)).json()).toHaveProperty('token')
    expect((await admin.post('/prime/webui/admin/resetmfa', { userName })).json()).toEqual({ reset: false })
  })

  it('is removed by its owner with the password, and its secret is never stored in clear text', async () => {
    const { userName, password, secret } = await withTotp()
    const rows = await t.db.withClient((client) => client.query('select t::text as text from account_totp t'))
    expect(
      rows.rows.some(({ text }) => text.includes(secret) || text.includes(Buffer.from(secret).toString('hex'))),
    ).toBe(false)
    const { mfaToken } = await pending(userName, password)
    const { token } = (await finish(mfaToken, { code: codeOf(secret) })).json()
    expect((await post(`${base}/Mfa/totp/remove`, { password: 'wrong' }, token)).statusCode).toBe(400)
    expect((await post(`${base}/Mfa/totp/remove`, { password }, token)).json()).toMatchObject({
      totp: false,
      recoveryCodesLeft: 0,
    })
    expect((await login(userName, password)).json()).toHaveProperty('token')
  })
})

// --- A passkey in software -------------------------------------------------------------------------------------------

const cbor = (value: unknown): Buffer => {
  const head = (major: number, n: number): Buffer =>
    n < 24
      ? Buffer.of((major << 5) | n)
      : n < 256
        ? Buffer.of((major << 5) | 24, n)
        : Buffer.of((major << 5) | 25, n >> 8, n & 255)
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  const entries = [...(value as Map<unknown, unknown>).entries()]
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, item]) => [cbor(key), cbor(item)])])
}
const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest()

const createAuthenticator = (rpId: string) => {
  const id = randomBytes(16)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  let counter = 0
  const data = (flags: number, more = Buffer.alloc(0)): Buffer => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(++counter)
    return Buffer.concat([sha256(rpId), Buffer.of(flags), count, more])
  }
  const clientData = (type: string, challenge: string, at: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }))
  const sign = (key: KeyObject, bytes: Buffer): Buffer =>
    createSign('sha256')
      .update(bytes)
      .sign(createPrivateKey(key.export({ format: 'pem', type: 'pkcs8' })))
  const idText = id.toString('base64url')
  return {
    id: idText,
    create: (challenge: string, at = origin) => {
      const cose = cbor(
        new Map<number, unknown>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(jwk.x as string, 'base64url')],
          [-3, Buffer.from(jwk.y as string, 'base64url')],
        ]),
      )
      const length = Buffer.from([0, id.length])
      const authData = data(0x45, Buffer.concat([Buffer.alloc(16), length, id, cose]))
      const attestation = cbor(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      )
      return {
        id: idText,
        rawId: idText,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, at).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    get: (challenge: string, at = origin) => {
      const [authData, client] = [data(0x05), clientData('webauthn.get', challenge, at)]
      return {
        id: idText,
        rawId: idText,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: sign(privateKey, Buffer.concat([authData, sha256(client)])).toString('base64url'),
        },
      }
    },
  }
}

describe('a passkey', () => {
  it('needs a domain name; is added, required and removed; refuses answers from another origin', async () => {
    const { userName, password } = await person(t, { profile: 30 })
    const token = await tokenOf(userName, password)
    expect((await post(`${base}/Mfa/passkeys/start`, { password }, token)).statusCode).toBe(200)
    await (await t.admin()).post('/prime/webui/generalconfig/SetServerDomainName', {
      SERVER_DOMAIN_NAME: 'http://10.0.0.9:8080',
    })
    expect((await post(`${base}/Mfa/passkeys/start`, { password }, token)).json().code).toBe('unprocessable')
    await (await t.admin()).post('/prime/webui/generalconfig/SetServerDomainName', { SERVER_DOMAIN_NAME: origin })

    const key = createAuthenticator('portcullis.example.org')
    const start = async () => (await post(`${base}/Mfa/passkeys/start`, { password }, token)).json().options
    const end = (response: object) => post(`${base}/Mfa/passkeys/finish`, { name: 'my key', response }, token)
    expect((await end(key.create((await start()).challenge, 'https://evil.example.org'))).json().code).toBe(
      'mfa_code_wrong',
    )
    expect((await end(key.create('b3RoZXI'))).json().code).toBe('mfa_code_wrong')
    const options = await start()
    expect(options.rp).toMatchObject({ id: 'portcullis.example.org', name: 'Portcullis' })
    const added = await end(key.create(options.challenge))
    expect([added.statusCode, added.json().recoveryCodes?.length]).toEqual([200, 10])
    // The challenge works only once.
    expect((await end(key.create(options.challenge))).json().code).toBe('mfa_code_wrong')

    const first = await pending(userName, password)
    expect(first.methods).toEqual(['passkey', 'recovery'])
    const begin = async (mfaToken: string) => (await post(`${base}/Mfa/signin/passkey`, { mfaToken })).json().options
    const asked = await begin(first.mfaToken)
    expect(asked.allowCredentials).toMatchObject([{ id: key.id }])
    for (const response of [
      key.get(asked.challenge, 'https://evil.example.org'),
      key.get('b3RoZXI'),
      createAuthenticator('portcullis.example.org').get(asked.challenge),
    ])
      expect((await finish(first.mfaToken, { response })).json().code).toBe('mfa_code_wrong')
    const signed = await finish(first.mfaToken, { response: key.get(asked.challenge) })
    expect(signed.statusCode, signed.body).toBe(200)
    const state = (await get(`${base}/Mfa`, signed.json().token)).json() as MfaState
    expect(state).toMatchObject({ totp: false, passkeys: [{ name: 'my key', id: key.id }], canUsePasskeys: true })
    expect(state.passkeys[0]?.lastUsedAt).not.toBeNull()
    const gone = await post(`${base}/Mfa/passkeys/remove`, { password, id: key.id }, signed.json().token)
    expect(gone.json()).toMatchObject({ passkeys: [] })
    expect((await login(userName, password)).json()).toHaveProperty('token')
  })

  it('cannot be set up, confirmed or reset with an API token', async () => {
    const { userName, password, secret } = await withTotp()
    const { mfaToken } = await pending(userName, password)
    const session = (await finish(mfaToken, { code: codeOf(secret) })).json().token as string
    // Already in use: a code does not give new recovery codes.
    t.clock.advance(30_000)
    expect((await post(`${base}/Mfa/totp/confirm`, { code: codeOf(secret) }, session)).json().code).toBe(
      'unprocessable',
    )
    const { token } = (
      await (await t.admin()).post('/prime/webui/admin/apitokens', { name: 'soar', userProfile: 10 })
    ).json()
    for (const [path, body] of [
      [`${base}/Mfa/totp/start`, { password: 'x' }],
      [`${base}/Mfa/totp/confirm`, { code: '123456' }],
      [`${base}/Mfa/passkeys/finish`, { name: 'x', response: {} }],
      ['/prime/webui/admin/resetmfa', { userName }],
    ] as const)
      expect([path, (await post(path, body, token)).statusCode]).toEqual([path, 403])
  })

  it('is removed when the password is reset on the server', async () => {
    const { userName, password } = await withTotp()
    const link = await t.server.accounts.resetPassword(userName, false)
    expect(link?.userName).toBe(userName)
    expect((await login(userName, password)).json()).toHaveProperty('token')
  })
})
