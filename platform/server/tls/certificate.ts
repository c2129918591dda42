import 'reflect-metadata'
import { createHash, createPublicKey, type KeyObject, randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** The content of a certificate. Profile of RFC 5280, version 3, ECDSA P-256 with SHA-256. */
export interface CertificateRequest {
  /** CN of the subject, at most 64 characters. */
  subject: string
  /** CN of the issuer; for a CA, equal to the subject. */
  issuer: string
  /** Key pair of the certificate, which contains only its public half. */
  key: KeyObject
  issuerKey: KeyObject
  notBefore: number
  notAfter: number
  /** Null for a CA, which issues only server certificates. */
  server: { names: readonly string[]; addresses: readonly string[] } | null
}

const publicDer = (key: KeyObject): Buffer => createPublicKey(key as never).export({ type: 'spki', format: 'der' })

/** Returns the base64url SHA-256 of a key's SPKI DER, which enrolment tokens pin. A renewed certificate keeps it. */
export const keyHash = (key: KeyObject): string => createHash('sha256').update(publicDer(key)).digest('base64url')

/** Differs from the library's own, which hashes less: earlier CA certificates name their key by this one. */
const keyIdentifier = (key: KeyObject): string => createHash('sha1').update(publicDer(key)).digest('hex')

const name = (commonName: string): Name =>
  new Name([{ O: [{ utf8String: 'Portcullis' }] }, { CN: [{ utf8String: [...commonName].slice(0, 64).join('') }] }])

/** Returns an address without an embedded IPv4 part, which the library parses incorrectly. */
const plainAddress = (address: string): string =>
  isIP(address) === 4 ? address : new URL(`http://[${address}]`).hostname.slice(1, -1)

/** Returns a signed certificate as PEM. */
export const issueCertificate = async (request: CertificateRequest): Promise<string> => {
  const { server, key, issuerKey } = request
  const serial = randomBytes(16)
  serial[0] = (serial.readUInt8(0) & 0x7f) | 0x40
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serial.toString('hex'),
      subject: name(request.subject),
      issuer: name(request.issuer),
      notBefore: new Date(request.notBefore),
      notAfter: new Date(request.notAfter),
      publicKey: publicDer(key),
      signingKey: issuerKey.toCryptoKey(algorithm, false, ['sign']),
      signingAlgorithm: algorithm,
      extensions: [
        server === null
          ? new BasicConstraintsExtension(true, 0, true)
          : new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(
          server === null ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature,
          true,
        ),
        new SubjectKeyIdentifierExtension(keyIdentifier(key)),
        new AuthorityKeyIdentifierExtension(keyIdentifier(issuerKey)),
        ...(server === null
          ? []
          : [
              new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
              new SubjectAlternativeNameExtension([
                ...server.names.map((value) => ({ type: 'dns' as const, value })),
                ...server.addresses.map((one) => ({ type: 'ip' as const, value: plainAddress(one) })),
              ]),
            ]),
      ],
    },
    webcrypto as never,
  )
  return `${certificate.toString('pem')}\n`
}
