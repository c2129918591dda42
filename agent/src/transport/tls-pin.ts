import { createHash, X509Certificate } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { connect, type DetailedPeerCertificate } from 'node:tls'
import { issuerNameOf } from '@portcullis/domain'
import { errnoOf } from '../exit.ts'
import { hostOf, openTunnel, type ProxySettings, portOf, proxyFor } from './proxy.ts'

/** No certificate in the server's chain has the CA hash of the enrolment token. The agent sent nothing. */
export class PinMismatch extends Error {
  constructor(host: string, issuer: string) {
    super(
      `The certificates of ${host} do not match the enrolment token (issuer: "${issuer}"). If a device on the network inspects TLS, exempt ${host} from TLS inspection. Otherwise, check the server address and create a new token on that server.`,
    )
    this.name = 'PinMismatch'
  }
}

/** Returns the base64url SHA-256 of a certificate's public key (SPKI DER). A renewal does not change it. */
export const spkiHash = (certificate: X509Certificate): string =>
  createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')

/**
 * Returns the CA hash in an enrolment token `pce_<id>_<secret>[.<hash>]`, or undefined. The hash has 43 base64url
 * characters (32 bytes).
 */
export const caHashOf = (token: string): string | undefined => /\.([A-Za-z0-9_-]{43})$/.exec(token)?.[1]

export interface ReadChainOptions {
  server: URL
  proxy: ProxySettings | undefined
  timeoutMs: number
  signal: AbortSignal
}

/** Returns a connection through the proxy, or undefined if the server has none. */
const tunnelTo = ({ server, proxy, timeoutMs }: ReadChainOptions, signal: AbortSignal): Promise<Duplex | undefined> =>
  new Promise((resolve, reject) => {
    const route = proxyFor(server, proxy)
    if (route === undefined) return resolve(undefined)
    const onAbort = (): void => void attempt.destroy(new Error('stopped'))
    const attempt = openTunnel(
      route,
      { host: hostOf(server), port: portOf(server) },
      (error, socket) => {
        signal.removeEventListener('abort', onAbort)
        if (error === null) resolve(socket)
        else reject(error)
      },
      timeoutMs,
    )
    signal.addEventListener('abort', onAbort)
  })

/** Reads the server's certificates without trusting them, leaf first. It sends only the TLS handshake. */
const readChain = async (options: ReadChainOptions): Promise<X509Certificate[]> => {
  const { server, timeoutMs, signal } = options
  const host = hostOf(server)
  const tunnel = await tunnelTo(options, signal)
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: portOf(server),
      ...(tunnel === undefined ? {} : { socket: tunnel }),
      ...(/^[0-9.]+$|:/.test(host) ? {} : { servername: host }),
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    })
    function fail(error: Error) {
      socket.destroy()
      tunnel?.destroy()
      reject(error)
    }
    const onAbort = () => fail(new Error('stopped'))
    signal.addEventListener('abort', onAbort)
    socket.on('close', () => {
      signal.removeEventListener('abort', onAbort)
      fail(new Error('the connection was closed during the TLS handshake'))
    })
    socket.setTimeout(timeoutMs, () => fail(new Error(`the TLS handshake did not finish within ${timeoutMs / 1000} s`)))
    socket.on('error', fail)
    socket.on('secureConnect', () => {
      const chain: X509Certificate[] = []
      const seen = new Set<string>()
      let current: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
      // A self-signed certificate is its own issuer, so the loop ends at a certificate that was seen before.
      while (current?.raw !== undefined && !seen.has(current.fingerprint256)) {
        seen.add(current.fingerprint256)
        chain.push(new X509Certificate(current.raw))
        current = current.issuerCertificate
      }
      resolve(chain)
      socket.end()
    })
  })
}

const issuerOf = (chain: readonly X509Certificate[]): string => issuerNameOf(chain[0]?.issuer ?? '')

export interface FetchPinOptions extends ReadChainOptions {
  /** Base64url SHA-256 of the CA's SPKI. */
  hash: string
  /** PEM of a known certificate to skip. */
  except?: string
}

/**
 * Returns the PEM of the certificate in the server's chain that has the hash. The caller verifies every later connection
 * with this certificate only.
 */
export const fetchPin = async ({ hash, except, ...options }: FetchPinOptions): Promise<string> => {
  const chain = await readChain(options)
  const found = chain.find((one) => spkiHash(one) === hash && one.toString() !== except)
  if (found === undefined) throw new PinMismatch(options.server.hostname, issuerOf(chain))
  return found.toString()
}

/** Codes of a chain that ends at a CA that this host does not trust. A wrong name or an expired certificate has another code. */
const UNKNOWN_ISSUER =
  /^(?:UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED)$/

/** Returns an error that explains a certificate from an unknown issuer, or undefined for another fault. */
export const explainIssuer = async (
  error: Error,
  isPinned: boolean,
  options: ReadChainOptions,
): Promise<Error | undefined> => {
  if (!UNKNOWN_ISSUER.test(errnoOf(error) ?? '')) return undefined
  const issuer = issuerOf(await readChain(options))
  const host = options.server.hostname
  return new Error(
    isPinned
      ? `A device between this host and the server replaces the server's certificate (issuer: "${issuer}"). Exempt ${host} from TLS inspection. If the server has a new CA instead, enrol this host again.`
      : `This host does not trust the certificate of ${host} (issuer: "${issuer}"). If a device on the network inspects TLS, exempt ${host} from TLS inspection. If the server uses its own CA, check that you copied the whole token.`,
  )
}
