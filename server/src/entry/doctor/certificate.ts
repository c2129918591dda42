import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Config } from '@portcullis/platform/server/config.ts'
import { error, type Finding, ok, reasonOf, warning } from './finding.ts'

const day = 86_400_000
const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

/** Returns the certificate file of this configuration; null: plain HTTP, or not created yet. */
const certificateFile = ({ tls, host, dataDir }: Config): string | null => {
  if (tls !== null) return tls.certFile
  const own = join(dataDir, 'tls', 'server.crt')
  return !isLoopback(host) && existsSync(own) ? own : null
}

const hostOf = (domainName: string): string => {
  const text = /^https?:\/\//i.test(domainName) ? domainName : `https://${domainName}`
  return URL.canParse(text) ? new URL(text).hostname.replace(/^\[|\]$/g, '') : ''
}

/**
 * Finds what a client would reject. `domainName`: the address for people and hosts in the configuration; null: unknown.
 * `served`: SHA-256 of the certificate that the running server uses.
 */
export const certificate = (
  config: Config,
  { now, domainName, served }: { now: number; domainName: string | null; served: string | null },
): Finding[] => {
  const name = 'TLS certificate'
  const file = certificateFile(config)
  if (file === null)
    return [
      isLoopback(config.host)
        ? ok(name, 'none: plain HTTP, on this machine only')
        : ok(name, 'the first start creates one with its own CA'),
    ]
  const isOwn = config.tls === null
  const renew = isOwn ? 'Restart the server, which renews it.' : 'Replace it with a new one and restart the server.'
  let leaf: X509Certificate
  let key: KeyObject
  try {
    leaf = new X509Certificate(readFileSync(file))
    key = createPrivateKey(readFileSync(config.tls?.keyFile ?? join(config.dataDir, 'tls', 'server.key')))
  } catch (fault) {
    return [
      error(
        name,
        `cannot read ${file} or its key: ${reasonOf(fault)}`,
        'Both must be PEM files, with the server certificate first.',
      ),
    ]
  }
  if (!leaf.checkPrivateKey(key)) return [error(name, `${file} does not match its key`, 'Configure a matching pair.')]
  const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]
  const days = Math.floor((to - now) / day)
  const findings: Finding[] = []
  if (now < from)
    findings.push(error(name, `it is valid only from ${leaf.validFrom}`, 'Check the clock of this machine.'))
  else if (now >= to) findings.push(error(name, `it expired on ${leaf.validTo}`, renew))
  else if (days < 30) findings.push(warning(name, `it expires in ${days} days`, renew))
  if (leaf.ca)
    findings.push(
      error(name, 'the first certificate in the file is a CA certificate', 'Put the server certificate first.'),
    )
  const host = domainName ? hostOf(domainName) : ''
  const isNamed = host === '' || (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined
  if (!isNamed)
    findings.push(
      warning(
        name,
        `it is not valid for ${host}, the configured domain name`,
        'Get a certificate for this name, unless a proxy in front of the server has one.',
      ),
    )
  if (served !== null && served !== leaf.fingerprint256)
    findings.push(warning(name, 'the running server uses a different certificate than the file', 'Restart the server.'))
  return findings.length > 0 ? findings : [ok(name, `${isOwn ? 'from its own CA' : file}, expires in ${days} days`)]
}
