import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Config } from '#platform/config.ts'
import { error, type Finding, ok, reasonOf, warning } from './finding.ts'

const day = 86_400_000
const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

/** The certificate that this configuration serves; null where it is plain HTTP or not made yet. */
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
 * What a client would object to. `domainName`: how people and hosts reach the server, from its configuration; null when
 * that is not known. `served`: SHA-256 of what a running server serves.
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
        : ok(name, 'the first start makes one by a CA of its own'),
    ]
  const isOwn = config.tls === null
  const renew = isOwn ? 'Start the server again: it renews it.' : 'Put a new one there and start the server again.'
  let leaf: X509Certificate
  let key: KeyObject
  try {
    leaf = new X509Certificate(readFileSync(file))
    key = createPrivateKey(readFileSync(config.tls?.keyFile ?? join(config.dataDir, 'tls', 'server.key')))
  } catch (fault) {
    return [
      error(
        name,
        `${file} or its key cannot be read: ${reasonOf(fault)}`,
        'Both have to be PEM files, the server certificate first.',
      ),
    ]
  }
  if (!leaf.checkPrivateKey(key))
    return [error(name, `${file} is not for the key beside it`, 'Name the pair that belongs together.')]
  const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]
  const days = Math.floor((to - now) / day)
  const findings: Finding[] = []
  if (now < from) findings.push(error(name, `it begins on ${leaf.validFrom}`, 'See to the clock of this machine.'))
  else if (now >= to) findings.push(error(name, `it ended on ${leaf.validTo}`, renew))
  else if (days < 30) findings.push(warning(name, `it ends in ${days} days`, renew))
  if (leaf.ca)
    findings.push(error(name, 'the first certificate of the file is that of a CA', 'Put the server certificate first.'))
  const host = domainName ? hostOf(domainName) : ''
  const isNamed = host === '' || (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined
  if (!isNamed)
    findings.push(
      warning(
        name,
        `it is not for ${host}, the domain name of the configuration`,
        'Get one for that name, unless a proxy before the server has it.',
      ),
    )
  if (served !== null && served !== leaf.fingerprint256)
    findings.push(warning(name, 'the running server serves another one than the file holds', 'Start the server again.'))
  return findings.length > 0 ? findings : [ok(name, `${isOwn ? 'by its own CA' : file}, ends in ${days} days`)]
}
