/** Forges access tokens. */
import { createHmac, createSign, generateKeyPairSync, sign } from 'node:crypto'

type Part = Readonly<Record<string, unknown>>

export interface Forgery {
  what: string
  token: string
}

const encoded = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')
const part = (token: string, n: number): Part =>
  JSON.parse(Buffer.from(token.split('.')[n] as string, 'base64url').toString()) as Part

const hmac = (algorithm: string, key: string | Buffer, text: string): string =>
  createHmac(algorithm, key).update(text).digest('base64url')

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Returns the token with one character changed, for each position. Each change affects significant bits. */
export const flipped = (token: string): Forgery[] =>
  [...token].map((letter, i) => {
    const at = letters.indexOf(letter)
    const other = at < 0 ? 'A' : (letters[(at + 16) % 64] as string)
    return { what: `character ${i + 1} changed`, token: `${token.slice(0, i)}${other}${token.slice(i + 1)}` }
  })

/**
 * Returns forged access tokens.
 * @param token a valid token
 * @param key its signing key, for correctly signed tokens with forbidden claims
 * @param publicKey a value that anyone can read from this server, used as an HMAC secret
 */
export const forgeries = (token: string, key: Buffer, publicKey: string): Forgery[] => {
  const header = part(token, 0)
  const claims = part(token, 1)
  const [, , signature] = token.split('.')
  const unsigned = (head: Part, body: Part = claims): string => `${encoded(head)}.${encoded(body)}`
  const by = (head: Part, body: Part, secret: string | Buffer = key, algorithm = 'sha256'): string => {
    const text = unsigned(head, body)
    return `${text}.${hmac(algorithm, secret, text)}`
  }
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { privateKey: ed25519 } = generateKeyPairSync('ed25519')
  const now = Math.floor(Date.now() / 1000)
  const without = (name: string): Part => Object.fromEntries(Object.entries(claims).filter(([other]) => other !== name))
  const head = (more: Part): string => by({ ...header, ...more }, claims)
  const body = (more: Part): string => by(header, { ...claims, ...more })

  const rs256 = unsigned({ ...header, alg: 'RS256' })
  const eddsa = unsigned({ ...header, alg: 'EdDSA' })
  return [
    ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => [
      { what: `alg "${alg}" without signature`, token: `${unsigned({ ...header, alg })}.` },
      { what: `alg "${alg}" with the old signature`, token: `${unsigned({ ...header, alg })}.${signature}` },
    ]),
    { what: 'no signature', token: `${token.split('.').slice(0, 2).join('.')}.` },
    { what: 'two parts', token: token.split('.').slice(0, 2).join('.') },
    { what: 'four parts', token: `${token}.${signature}` },
    ...['', 'secret', 'portcullis', publicKey, Buffer.alloc(32)].map((secret, i) => ({
      what: `signed by guessed key ${i + 1}`,
      token: by(header, claims, secret),
    })),
    { what: 'HS384 by the right key', token: by({ ...header, alg: 'HS384' }, claims, key, 'sha384') },
    { what: 'HS512 by the right key', token: by({ ...header, alg: 'HS512' }, claims, key, 'sha512') },
    { what: 'called HS512, signed HS256', token: by({ ...header, alg: 'HS512' }, claims) },
    {
      what: 'RS256 with the key of the attacker',
      token: `${rs256}.${createSign('sha256').update(rs256).sign(rsa, 'base64url')}`,
    },
    {
      what: 'EdDSA with the key of the attacker',
      token: `${eddsa}.${sign(null, Buffer.from(eddsa), ed25519).toString('base64url')}`,
    },
    ...['../../../../dev/null', "' union select 'AA'--", 'http://169.254.169.254/key', '/etc/hostname'].map((kid) => ({
      what: `kid ${kid}`,
      token: by({ ...header, kid }, claims, ''),
    })),
    ...(['kid', 'jku', 'x5u', 'jwk', 'x5c', 'crit', 'zip', 'b64'] as const).map((name) => ({
      what: `rightly signed, with ${name}`,
      token: head({ [name]: name === 'crit' ? ['exp'] : 'https://gate.example/' }),
    })),
    { what: 'typ JWT', token: head({ typ: 'JWT' }) },
    { what: 'no typ', token: by({ alg: 'HS256' }, claims) },
    { what: 'another audience', token: body({ aud: 'portcullis-agent' }) },
    { what: 'two audiences', token: body({ aud: [claims.aud, 'another'] }) },
    { what: 'another issuer', token: body({ iss: 'https://gate.example/' }) },
    { what: 'ended a second ago', token: body({ iat: now - 900, exp: now - 1 }) },
    { what: 'ends in a year', token: body({ exp: now + 31_536_000 }) },
    { what: 'end as text', token: body({ exp: String(now + 600) }) },
    { what: 'made in the future', token: body({ iat: now + 3_600, exp: now + 4_000 }) },
    { what: 'not yet valid', token: body({ nbf: now + 3_600 }) },
    ...['exp', 'iat', 'sub', 'sid', 'ver', 'aud', 'iss'].map((name) => ({
      what: `without ${name}`,
      token: by(header, without(name)),
    })),
    { what: 'of an account nobody has', token: body({ sub: '01977f6e-0000-7c3e-8f2a-000000000000' }) },
    { what: 'of a session nobody has', token: body({ sid: '01977f6e-0000-7c3e-8f2a-000000000000' }) },
    { what: 'of another version of the account', token: body({ ver: Number(claims.ver) + 1 }) },
    { what: 'version as text', token: body({ ver: String(claims.ver) }) },
    { what: 'account as a list', token: body({ sub: [claims.sub] }) },
    { what: 'account that breaks out of SQL', token: body({ sub: "' or '1'='1" }) },
  ]
}
