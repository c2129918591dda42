import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  namedBits,
  objectId,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts'

const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))

/** What goes into a certificate. Profile of RFC 5280, version 3, ECDSA P-256 with SHA-256. */
export interface CertificateRequest {
  /** CN of the subject, at most 64 characters. */
  subject: string
  /** CN of the issuer; the subject's own for a CA. */
  issuer: string
  /** Pair the certificate is for; only its public half is written. */
  key: KeyObject
  issuerKey: KeyObject
  notBefore: number
  notAfter: number
  /** Null for a CA that issues leaves only. */
  server: { names: readonly string[]; addresses: readonly string[] } | null
}

const publicDer = (key: KeyObject): Buffer => createPublicKey(key as never).export({ type: 'spki', format: 'der' })

/** Base64url SHA-256 of a key's SPKI DER: what enrolment tokens pin. It outlives a renewal of the certificate. */
export const keyHash = (key: KeyObject): string => createHash('sha256').update(publicDer(key)).digest('base64url')

const keyIdentifier = (key: KeyObject): Buffer => createHash('sha1').update(publicDer(key)).digest()

const name = (commonName: string): Buffer =>
  sequence(
    set(sequence(objectId('2.5.4.10'), utf8String('Portcullis'))),
    set(sequence(objectId('2.5.4.3'), utf8String([...commonName].slice(0, 64).join('')))),
  )

const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  sequence(objectId(id), ...(critical ? [boolean(true)] : []), octetString(value))

/** Bytes of an IP address in network order. */
const addressBytes = (address: string): Buffer => {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // An embedded IPv4 part becomes two groups, `::` as many zero groups as are missing.
  const plain = address.replace(/(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...parts: string[]) =>
    [0, 2].map((i) => ((Number(parts[i]) << 8) | Number(parts[i + 1])).toString(16)).join(':'),
  )
  const [left = '', right] = plain.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const [head, tail] = [groups(left), right === undefined ? [] : groups(right)]
  const all = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

/** A signed certificate as PEM. */
export const issueCertificate = (request: CertificateRequest): string => {
  const { server, key, issuerKey } = request
  const extensions = [
    // CA: true, and below it only leaves; CA: false is the absence of both members.
    extension('2.5.29.19', true, server === null ? sequence(boolean(true), integer(Buffer.from([0]))) : sequence()),
    // keyCertSign and cRLSign, or digitalSignature.
    extension('2.5.29.15', true, server === null ? namedBits(5, 6) : namedBits(0)),
    extension('2.5.29.14', false, octetString(keyIdentifier(key))),
    extension('2.5.29.35', false, sequence(implicit(0, keyIdentifier(issuerKey)))),
  ]
  if (server !== null)
    extensions.push(
      extension('2.5.29.37', false, sequence(objectId('1.3.6.1.5.5.7.3.1'))),
      extension(
        '2.5.29.17',
        false,
        sequence(
          ...server.names.map((dns) => implicit(2, Buffer.from(dns, 'latin1'))),
          ...server.addresses.map((address) => implicit(7, addressBytes(address))),
        ),
      ),
    )
  const serial = randomBytes(16)
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    name(request.issuer),
    sequence(time(request.notBefore), time(request.notAfter)),
    name(request.subject),
    publicDer(key),
    explicit(3, sequence(...extensions)),
  )
  const signature = sign('sha256', body, { key: issuerKey, dsaEncoding: 'der' })
  const lines =
    sequence(body, ecdsaWithSha256, bitString(signature))
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
