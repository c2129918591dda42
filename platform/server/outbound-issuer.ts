import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect, TLSSocket } from 'node:tls'
import { issuerNameOf } from '@portcullis/domain'
import type { HttpsRoute } from './destinations.ts'

/** An error of a certificate, with the issuer that it names. Nobody verified the name; it is cleaned and shortened. */
export type IssuerError = Error & { issuer?: string }

/** Milliseconds for reading the certificate again. */
const readMs = 3_000

/** Codes of a chain that ends at an unknown CA. */
const unknownIssuer =
  /^(?:UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|CERT_UNTRUSTED)$/

/** Reads the issuer of a certificate without trusting it. Sends only the TLS handshake. */
const readIssuer = ({ host, lookup, agent }: HttpsRoute, url: URL): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = {
      host,
      port: Number(url.port || 443),
      ...(lookup === undefined ? {} : { lookup }),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      rejectUnauthorized: false,
    }
    let open: Duplex | undefined
    const timer = setTimeout(() => fail(new Error('timed out')), readMs)
    function fail(error: Error): void {
      clearTimeout(timer)
      open?.destroy()
      reject(error)
    }
    function read(socket: Duplex): void {
      open = socket
      if (!(socket instanceof TLSSocket)) {
        fail(new Error('not a TLS connection'))
        return
      }
      socket.on('error', fail)
      socket.on('close', () => fail(new Error('closed')))
      socket.on('secureConnect', () => {
        const { raw } = socket.getPeerCertificate()
        resolve(raw === undefined ? 'unknown' : issuerNameOf(new X509Certificate(raw).issuer))
        socket.destroy()
      })
    }
    if (agent === false) read(connect(options))
    else agent.createConnection(options, (error, socket) => (error === null ? read(socket) : fail(error)))
  })

/** Adds the issuer to an error of a certificate from an unknown CA, which often belongs to a device that inspects TLS. */
export const withIssuer = async (error: Error, route: HttpsRoute, url: URL): Promise<IssuerError> => {
  if (!unknownIssuer.test((error as NodeJS.ErrnoException).code ?? '')) return error
  const issuer = await readIssuer(route, url).catch(() => undefined)
  return issuer === undefined ? error : Object.assign(error, { issuer })
}
