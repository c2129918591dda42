import { connect, isIP, type Socket } from 'node:net'
import tls, { type PeerCertificate } from 'node:tls'
import { cleanText } from '@portcullis/domain'
import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import { certificateFault } from './certificate-labels.ts'
import { faultOf, LdapFault } from './ldap.fault.ts'
import { berLength, messageEnd, noDirectory } from './ldap.frames.ts'

/** Time limit in milliseconds for a connection with TLS. */
const connectMs = 5_000
/** Size limit of a StartTLS answer, which has 14 bytes and a text. */
const maxAnswerBytes = 4_096

export type LdapSecurity = 'none' | 'starttls' | 'tls'

export interface LdapSocketOptions {
  /** `ldap://host[:port]` or `ldaps://…`. */
  url: string
  security: LdapSecurity
  /** Trusted PEM certificates instead of the system's. Empty: the system's. */
  ca: readonly string[]
  resolve: ResolveDestination
  /** Aborts the connection. */
  signal: AbortSignal
}

/** An open connection, with TLS if configured. */
export interface LdapSocket {
  socket: Socket
  /** Peer in readable form: host, address and port. */
  where: string
  /** Certificate of the directory. Null without TLS. */
  certificate: PeerCertificate | null
}

export type LdapSocketStage = 'connect' | 'tls'

/** ExtendedRequest 1.3.6.1.4.1.1466.20037 with message id 1 (RFC 4511, 4.14.1). */
const startTlsRequest = Buffer.concat([
  Buffer.from('301d02010177188016', 'hex'),
  Buffer.from('1.3.6.1.4.1.1466.20037', 'latin1'),
])

/** Returns the result code of a complete ExtendedResponse. Null while bytes are missing. */
const startTlsResult = (bytes: Buffer): number | null => {
  const end = messageEnd(bytes, maxAnswerBytes)
  if (end === null) return null
  // Clear text after the response would otherwise count as received over TLS.
  if (bytes.length > end)
    throw new LdapFault('noTls', 'Unexpected data arrived before TLS began. An attacker may control the connection.')
  const message = berLength(bytes, 1)
  const id = message === null ? null : berLength(bytes, message.start + 1)
  if (message === null || id === null || bytes[message.start] !== 0x02) throw noDirectory()
  const response = id.start + id.length
  const content = berLength(bytes, response + 1)
  if (content === null || bytes[response] !== 0x78) throw noDirectory()
  if (bytes[content.start] !== 0x0a || bytes[content.start + 1] !== 1) throw noDirectory()
  return bytes[content.start + 2] ?? null
}

const startTls = (socket: Socket): Promise<void> =>
  new Promise((resolve, reject) => {
    let got = Buffer.alloc(0)
    function end(error: unknown): void {
      socket.off('data', take).off('close', closed)
      if (error === null) resolve()
      else reject(error as Error)
    }
    const closed = (): void => end(noDirectory())
    function take(bytes: Buffer): void {
      got = Buffer.concat([got, bytes])
      try {
        const result = startTlsResult(got)
        if (result === null) return
        end(result === 0 ? null : new LdapFault('noTls', 'The directory does not offer STARTTLS. Use ldaps://.'))
      } catch (error) {
        end(error)
      }
    }
    socket.on('data', take).on('close', closed)
    socket.write(startTlsRequest)
  })

/** Resolves at the event and rejects at the first error. */
const opened = (socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    function stop(): void {
      socket.destroy()
      reject(new LdapFault('silent', 'The directory did not answer in time.'))
    }
    const timer = setTimeout(stop, connectMs)
    signal.addEventListener('abort', stop, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
    socket.once(event, () => {
      done()
      resolve()
    })
    socket.once('error', (error) => {
      done()
      reject(error)
    })
    socket.once('close', () => {
      done()
      reject(noDirectory())
    })
  })

/** Describes a certificate in readable form: name, issuer and expiry. */
export const certificateName = (certificate: PeerCertificate | null): string => {
  const of = (name: string | string[] | undefined): string => cleanText([name].flat()[0] ?? '', 80)
  if (certificate?.valid_to === undefined) return 'The certificate of the directory'
  const { subject, issuer, valid_to } = certificate
  const until = new Date(valid_to)
  const day = Number.isNaN(until.getTime()) ? '' : `, until ${until.toISOString().slice(0, 10)}`
  return `The certificate "${of(subject?.CN)}" (issued by "${of(issuer?.CN)}"${day})`
}

/** Converts a failed handshake to a fault that names the certificate. */
const tlsFault = (certificate: PeerCertificate | null, error: unknown): LdapFault => {
  const reason = certificateFault(error)
  if (reason === undefined) {
    const fault = faultOf(error)
    return fault.code === 'notLdap'
      ? new LdapFault('noTls', 'This port does not use TLS. Check the address and the security setting.', error)
      : fault
  }
  return new LdapFault('certificate', `${certificateName(certificate)} ${reason}.`, error)
}

const secured = async (
  plain: Socket,
  host: string,
  ca: readonly string[],
  signal: AbortSignal,
): Promise<{ socket: tls.TLSSocket; certificate: PeerCertificate }> => {
  const socket = tls.connect({
    socket: plain,
    // The certificate is checked against the host. RFC 6066 does not allow an address as server name.
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca.length === 0 ? {} : { ca: [...ca] }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
  socket.on('error', () => {})
  let seen: PeerCertificate | null = null
  // Runs before the check that closes the socket, so that the error can name the certificate.
  socket.prependListener('secure', () => {
    seen = socket.getPeerCertificate()
  })
  await opened(socket, 'secureConnect', signal).catch((error: unknown) => {
    throw tlsFault(seen, error)
  })
  return { socket, certificate: socket.getPeerCertificate() }
}

/** Connects as configured. Never continues without the configured TLS or with an invalid certificate. */
export const openLdapSocket = async (
  { url, security, ca, resolve, signal }: LdapSocketOptions,
  onStage: (stage: LdapSocketStage) => void = () => {},
): Promise<LdapSocket> => {
  const { hostname, port: givenPort } = new URL(url)
  const port = givenPort === '' ? (security === 'tls' ? 636 : 389) : Number(givenPort)
  onStage('connect')
  const destination = await resolve(hostname)
  const { host, address, lookup } = destination
  const where = address === host ? `${host} port ${port}` : `${host} (${address}) port ${port}`
  const plain = connect({ host, port, lookup })
  plain.setNoDelay(true)
  // `opened` reports errors. Without this handler, a late one would end the process.
  plain.on('error', () => {})
  function abort(): void {
    plain.destroy()
  }
  signal.addEventListener('abort', abort, { once: true })
  plain.once('close', () => signal.removeEventListener('abort', abort))
  try {
    await opened(plain, 'connect', signal)
    if (security === 'none') return { socket: plain, where, certificate: null }
    onStage('tls')
    if (security === 'starttls') {
      const timer = setTimeout(abort, connectMs)
      await startTls(plain).finally(() => clearTimeout(timer))
    }
    const { socket, certificate } = await secured(plain, host, ca, signal)
    return { socket, where, certificate }
  } catch (error) {
    plain.destroy()
    throw faultOf(error)
  }
}
