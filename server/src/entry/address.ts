import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Config } from '@portcullis/platform/server/config.ts'
import type { Reach } from '@portcullis/platform/server/context.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { ensureOwnCertificate, localIdentity } from '@portcullis/platform/server/tls/index.ts'

export interface Address {
  tls: { cert: string; key: string } | null
  /** Returns the address for hosts, given the port that the server listens on. */
  reach(port: number): Reach
  /** True if the server's own CA issued the certificate. */
  isOwnCa: boolean
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

const readPem = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`Cannot read the certificate file ${file}: ${(error as Error).message}.`)
  }
}

/** Returns the host name in links: the listening address, or the first external address of this machine. */
const publicHost = (host: string): string => {
  if (host !== '0.0.0.0' && host !== '::') return isIPv6(host) ? `[${host}]` : host
  const { addresses, names } = localIdentity(host)
  const found = addresses.find((a) => !isLoopback(a) && !isIPv6(a)) ?? names[0] ?? 'localhost'
  return isIPv6(found) ? `[${found}]` : found
}

/** Chooses plain HTTP on loopback, and otherwise HTTPS with the given certificate or one of the server's own CA. */
export const chooseAddress = async (config: Config, now: number): Promise<Address> => {
  const host = publicHost(config.host)
  const reachableFromElsewhere = !isLoopback(config.host)
  const reachBy = (scheme: string, caKeyHash: string | null) => (port: number) => ({
    url: `${scheme}://${host}:${port}`,
    caKeyHash,
    reachableFromElsewhere,
  })
  if (config.tls !== null) {
    const tls = { cert: readPem(config.tls.certFile), key: readPem(config.tls.keyFile) }
    return { tls, reach: reachBy('https', null), isOwnCa: false }
  }
  if (!reachableFromElsewhere) return { tls: null, reach: reachBy('http', null), isOwnCa: false }
  const own = await ensureOwnCertificate({ dir: join(config.dataDir, 'tls'), ...localIdentity(config.host), now })
  return { tls: { cert: own.cert, key: own.key }, reach: reachBy('https', own.caKeyHash), isOwnCa: true }
}
