import { createHash, X509Certificate } from 'node:crypto'
import { connect, type DetailedPeerCertificate } from 'node:tls'

/** No certificate in the server's chain has the CA hash of the enrolment token. The agent sent nothing. */
export class PinMismatch extends Error {
  constructor(host: string) {
    super(
      `The certificates of ${host} do not match the enrolment token. Check the server address and create a new token on that server.`,
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
 * Reads the server's certificate chain without trusting it and returns the PEM of the certificate with the hash.
 * It sends only the TLS handshake. The caller verifies every later connection with this certificate only.
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
    socket.setTimeout(timeoutMs, () => fail(new Error(`the TLS handshake did not finish within ${timeoutMs / 1000} s`)))
    socket.on('error', fail)
    socket.on('secureConnect', () => {
      const seen = new Set<string>()
      let current: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
      // A self-signed certificate is its own issuer, so the loop ends at a certificate that was seen before.
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
