import { createHash, X509Certificate } from 'node:crypto'
import { connect, type DetailedPeerCertificate } from 'node:tls'

/** The server's chain holds no certificate with the hash that the enrolment token names. Nothing was sent. */
export class PinMismatch extends Error {
  constructor(host: string) {
    super(`The certificates that ${host} shows do not belong to the server that made the enrolment token.`)
    this.name = 'PinMismatch'
  }
}

/** Base64url SHA-256 of a certificate's public key (SPKI DER): stays the same when the certificate is renewed. */
export const spkiHash = (certificate: X509Certificate): string =>
  createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')

/**
 * The CA hash inside an enrolment token `pce_<id>_<secret>[.<hash>]`, or undefined.
 * The hash is 43 base64url characters (32 bytes).
 */
export const caHashOf = (token: string): string | undefined => /\.([A-Za-z0-9_-]{43})$/.exec(token)?.[1]

export interface FetchPinOptions {
  host: string
  port: number
  /** Base64url SHA-256 of the CA's SPKI. */
  hash: string
  timeoutMs: number
  /** PEM of a known certificate to skip. */
  except?: string
  signal: AbortSignal
}

/**
 * Looks at the server's chain once, without trusting it, and gives back the PEM of the certificate whose key has the hash.
 * Nothing but the TLS handshake is sent; the caller verifies every later connection with that certificate only.
 */
export const fetchPin = ({ host, port, hash, timeoutMs, except, signal }: FetchPinOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      ...(/^[0-9.]+$|:/.test(host) ? {} : { servername: host }),
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    })
    function fail(error: Error) {
      socket.destroy()
      reject(error)
    }
    const onAbort = () => fail(new Error('stopped'))
    signal.addEventListener('abort', onAbort)
    socket.on('close', () => {
      signal.removeEventListener('abort', onAbort)
      fail(new Error('the connection was closed during the TLS handshake'))
    })
    socket.setTimeout(timeoutMs, () => fail(new Error('time-out during the TLS handshake')))
    socket.on('error', fail)
    socket.on('secureConnect', () => {
      const seen = new Set<string>()
      let current: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
      // A self-signed certificate names itself as issuer, so the walk ends at one seen before.
      while (current?.raw !== undefined && !seen.has(current.fingerprint256)) {
        seen.add(current.fingerprint256)
        const certificate = new X509Certificate(current.raw)
        if (certificate.toString() === except) {
          current = current.issuerCertificate
          continue
        }
        if (spkiHash(certificate) === hash) {
          resolve(certificate.toString())
          socket.end()
          return
        }
        current = current.issuerCertificate
      }
      fail(new PinMismatch(host))
    })
  })
