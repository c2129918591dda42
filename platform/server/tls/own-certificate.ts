import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import { issueCertificate, keyHash } from './certificate.ts'

const day = 86_400_000
/** Longest validity of a server certificate that current clients accept. */
const leafDays = 825
const caDays = 3_650
/** A certificate with less time left is renewed at the start of the server. */
const renewDays = 30
/** Certificates are valid from a day ago, because clocks of hosts may be behind. */
const backdate = day

export interface OwnCertificateOptions {
  /** Folder for keys and certificates; created if missing. */
  dir: string
  /** Host names of the server. */
  names: readonly string[]
  /** IP addresses of the server. */
  addresses: readonly string[]
  now: number
}

export interface OwnCertificate {
  /** PEM chain: server certificate, then the CA's. */
  cert: string
  /** PEM of the server's private key. */
  key: string
  caPem: string
  /** Base64url SHA-256 of the CA's SPKI DER, for enrolment tokens. */
  caKeyHash: string
  /** The same for the server's own key; a renewal keeps it. */
  leafKeyHash: string
}

/** Names that a certificate can contain; others are left out. */
const dnsName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*$/

const unique = (values: readonly string[]): string[] => [...new Set(values)].sort()

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new StartError(`Cannot read ${file}: ${(error as Error).message}.`)
  }
}

const write = (file: string, text: string, mode: number): void => {
  try {
    writeFileSync(`${file}.new`, text, { mode, flush: true })
    chmodSync(`${file}.new`, mode)
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw new StartError(`Cannot write ${file}: ${(error as Error).message}.`)
  }
}

const remedy =
  'Restore it from a backup, or remove the folder to create a new CA. With a new CA, every host must enrol again.'

/** Returns the key from its file, or stores a new one. `mustExist`: a certificate for it exists. */
const keyIn = (file: string, mustExist: boolean): KeyObject => {
  const text = read(file)
  if (text === null) {
    if (mustExist) throw new StartError(`The key ${file} is missing, but its certificate exists. ${remedy}`)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    write(file, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 0o600)
    return privateKey
  }
  let key: KeyObject
  try {
    key = createPrivateKey(text)
  } catch {
    throw new StartError(`${file} is damaged: it contains no private key. ${remedy}`)
  }
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new StartError(`${file} is not a key of this server, because it is not ECDSA P-256. ${remedy}`)
  chmodSync(file, 0o600)
  return key
}

const certificateIn = (file: string, key: KeyObject): X509Certificate | null => {
  const text = read(file)
  if (text === null) return null
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(text)
  } catch {
    throw new StartError(`${file} is damaged: it contains no certificate. ${remedy}`)
  }
  if (!certificate.checkPrivateKey(key)) throw new StartError(`${file} does not match its key. ${remedy}`)
  return certificate
}

const daysLeft = (certificate: X509Certificate, now: number): number => (Date.parse(certificate.validTo) - now) / day

const covers = (certificate: X509Certificate, names: readonly string[], addresses: readonly string[]): boolean =>
  names.every((dns) => certificate.checkHost(dns, { subject: 'never' }) !== undefined) &&
  addresses.every((address) => certificate.checkIP(address) !== undefined)

/**
 * Reads or creates the server's own CA (ECDSA P-256, 10 years) and its server certificate for these names and addresses
 * (825 days) in `dir`. Each call renews a certificate that has less than 30 days left or lacks a name or address; keys
 * stay. Damaged files are a StartError, because a silent new CA would lock out every enrolled host.
 */
export const ensureOwnCertificate = async ({
  dir,
  names,
  addresses,
  now,
}: OwnCertificateOptions): Promise<OwnCertificate> => {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StartError(`Cannot create the folder ${dir}: ${(error as Error).message}.`)
  }
  const file = (name: string) => join(dir, name)

  const caKey = keyIn(file('ca.key'), read(file('ca.crt')) !== null)
  let ca = certificateIn(file('ca.crt'), caKey)
  const caHash = keyHash(caKey)
  const caName = `Portcullis CA ${caHash.slice(0, 8)}`
  // A server certificate must not outlive its CA.
  if (ca === null || daysLeft(ca, now) < leafDays + renewDays) {
    const pem = await issueCertificate({
      subject: caName,
      issuer: caName,
      key: caKey,
      issuerKey: caKey,
      notBefore: now - backdate,
      notAfter: now - backdate + caDays * day,
      server: null,
    })
    write(file('ca.crt'), pem, 0o644)
    ca = new X509Certificate(pem)
  }

  const wantedNames = unique(['localhost', ...names.map((dns) => dns.toLowerCase().replace(/\.$/, ''))]).filter((dns) =>
    dnsName.test(dns),
  )
  const wantedAddresses = unique(['127.0.0.1', '::1', ...addresses]).filter(
    (address) => isIP(address) !== 0 && !address.includes('%'),
  )
  const key = keyIn(file('server.key'), read(file('server.crt')) !== null)
  let leaf = certificateIn(file('server.crt'), key)
  const isGood =
    leaf !== null &&
    daysLeft(leaf, now) >= renewDays &&
    leaf.verify(ca.publicKey) &&
    covers(leaf, wantedNames, wantedAddresses)
  if (leaf === null || !isGood) {
    const pem = await issueCertificate({
      subject: wantedNames.find((dns) => dns !== 'localhost') ?? 'localhost',
      issuer: caName,
      key,
      issuerKey: caKey,
      notBefore: now - backdate,
      notAfter: now - backdate + leafDays * day - 1_000,
      server: { names: wantedNames, addresses: wantedAddresses },
    })
    write(file('server.crt'), pem, 0o644)
    leaf = new X509Certificate(pem)
  }
  return {
    cert: `${leaf.toString()}${ca.toString()}`,
    key: key.export({ type: 'pkcs8', format: 'pem' }) as string,
    caPem: ca.toString(),
    caKeyHash: caHash,
    leafKeyHash: keyHash(key),
  }
}
