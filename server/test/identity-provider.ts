import { generateKeyPairSync } from 'node:crypto'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import type { IssuedCertificate } from './certificates.ts'

export interface ProviderPerson {
  preferred_username: string
  groups?: string[]
  [claim: string]: unknown
}

export interface IdentityProviderOptions {
  tls: IssuedCertificate & { ca: string }
  clientId: string
  clientSecret: string
  redirectUri: string
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>

/** Starts a real OpenID provider over https. It signs every visitor in as `next`. */
export const startIdentityProvider = async (options: IdentityProviderOptions) => {
  const { tls, clientId, clientSecret, redirectUri } = options
  const people = new Map<string, ProviderPerson>()
  let next: string | null = null
  const server = createServer({ cert: tls.cert, key: tls.key })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const issuer = `https://127.0.0.1:${port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', kid: 'one' }] } as never,
    cookies: { keys: ['a key of a test'] },
    features: { devInteractions: { enabled: false } },
    claims: {
      openid: ['sub'],
      profile: ['preferred_username', 'given_name', 'family_name', 'groups'],
      email: ['email'],
    },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
  })
  const handle = provider.callback()
  server.on('request', (incoming, outgoing) => {
    if (incoming.url?.startsWith('/interaction/') !== true) {
      handle(incoming, outgoing)
      return
    }
    const finish = async (): Promise<void> => {
      const { params } = await provider.interactionDetails(incoming, outgoing)
      if (next === null) {
        await provider.interactionFinished(incoming, outgoing, { error: 'access_denied' })
        return
      }
      const grant = new provider.Grant({ accountId: next, clientId: params.client_id as string })
      grant.addOIDCScope('openid profile email')
      const grantId = await grant.save()
      await provider.interactionFinished(incoming, outgoing, { login: { accountId: next }, consent: { grantId } })
    }
    finish().catch(() => outgoing.destroy())
  })

  const get = (url: URL, cookie: string): Promise<{ location: string | undefined; cookies: string[] }> =>
    new Promise((resolve, reject) => {
      request(url, { ca: tls.ca, headers: { cookie } }, (answer) => {
        answer.resume()
        answer.on('end', () =>
          resolve({ location: answer.headers.location, cookies: answer.headers['set-cookie'] ?? [] }),
        )
      })
        .on('error', reject)
        .end()
    })

  return {
    issuer,
    /** Registers a person and signs visitors in as this person from now on. Null: the next visitor declines. */
    signsInAs: (subject: string | null, person?: ProviderPerson): void => {
      next = subject
      if (subject !== null && person !== undefined) people.set(subject, person)
    },
    /** Follows a browser from the server's redirect through the provider. Returns the address it is sent back to. */
    visit: async (from: string): Promise<URL> => {
      const jar = new Map<string, string>()
      let url = new URL(from)
      for (let hops = 0; url.origin === issuer && hops < 10; hops++) {
        const { location, cookies } = await get(url, [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
        for (const cookie of cookies) {
          const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
          if (name !== undefined) jar.set(name, value ?? '')
        }
        if (location === undefined) throw new Error(`the provider did not redirect: ${url.pathname}`)
        url = new URL(location, url)
      }
      return url
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
