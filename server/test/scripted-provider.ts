import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, type JWTPayload, SignJWT } from 'jose'
import type { IssuedCertificate } from './certificates.ts'

type Json = Record<string, unknown>
type Answer = Json | { status: number; type: string; body: string } | null

/** What a provider says. A test replaces the parts that it gets wrong. */
export interface Script {
  /** Changes the provider document. */
  document?: (document: Json) => Json
  /** Changes the claims of the ID token. A value of undefined removes a claim. */
  claims?: Json
  /** Makes the ID token from its claims. */
  idToken?: (claims: JWTPayload) => string | Promise<string>
  /** Answers the exchange of a code. */
  token?: (answer: Json, body: URLSearchParams) => Answer
  /** Answers the userinfo request. Without it, the provider has no such endpoint. */
  userinfo?: () => Answer | Promise<Answer>
  /** Answers the request of a browser to sign in. */
  authorize?: (asked: URLSearchParams) => { status: number; location?: string }
  /** Changes the `Date` header of each answer, in milliseconds. */
  clockMs?: number
}

export type ScriptedProvider = Awaited<ReturnType<typeof startScriptedProvider>>

const seconds = (): number => Math.floor(Date.now() / 1000)

/** Starts an OpenID provider over https that says what a test tells it to. */
export const startScriptedProvider = async (certificate: IssuedCertificate, clientId: string) => {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'one', use: 'sig', alg: 'RS256' }
  let script: Script = {}
  let nonce = ''
  let issuer = ''
  const signed = (claims: JWTPayload, key: KeyObject = own.privateKey) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(key)

  const answers: Record<string, (body: string, asked: URLSearchParams) => Answer | Promise<Answer>> = {
    '/.well-known/openid-configuration': () => {
      const document = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...(script.userinfo === undefined ? {} : { userinfo_endpoint: `${issuer}/userinfo` }),
      }
      return script.document?.(document) ?? document
    },
    '/keys': () => ({ keys: [jwk] }),
    '/token': async (body) => {
      const claims = {
        ...{ iss: issuer, aud: clientId, sub: 'subject-lied', iat: seconds(), exp: seconds() + 300, nonce },
        ...{ preferred_username: 'lied', groups: ['usb-users'] },
        ...script.claims,
      }
      const answer = {
        access_token: 'a token',
        token_type: 'bearer',
        id_token: await (script.idToken ?? signed)(claims),
      }
      return script.token?.(answer, new URLSearchParams(body)) ?? answer
    },
    '/userinfo': () => script.userinfo?.() ?? null,
    '/authorize': (_body, asked) => {
      const { status, location } = script.authorize?.(asked) ?? {
        status: 302,
        location: `${asked.get('redirect_uri')}?error=login_required&state=${asked.get('state')}`,
      }
      return { status, type: 'text/html', body: location ?? '' }
    },
  }
  const server = createServer(certificate, (request, response) => {
    const url = new URL(request.url ?? '/', 'https://provider')
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const work = async (): Promise<void> => {
        const answer = (await answers[url.pathname]?.(body, url.searchParams)) ?? null
        if (script.clockMs !== undefined)
          response.setHeader('date', new Date(Date.now() + script.clockMs).toUTCString())
        if (answer === null) response.writeHead(404).end()
        else if ('status' in answer && 'body' in answer) {
          const { status, type, body: text } = answer as { status: number; type: string; body: string }
          const isRedirect = status >= 300 && status < 400
          response.writeHead(status, { 'content-type': type, ...(isRedirect ? { location: text } : {}) })
          response.end(isRedirect ? '' : text)
        } else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
      }
      work().catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    issuer,
    publicKey: own.publicKey,
    seconds,
    signed,
    /** Says this from now on, to a sign-in with this nonce. */
    says: (next: Script, nonceOfSignin = ''): void => {
      script = next
      nonce = nonceOfSignin
    },
    stop: (): void => {
      server.closeAllConnections()
      server.close()
    },
  }
}
