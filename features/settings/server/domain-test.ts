import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { checkServerIdentity, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import {
  type Destination,
  DestinationError,
  type ResolveDestination,
} from '@portcullis/platform/server/destinations.ts'
import type { ConfigTested, ConfigTestStep } from '#features/contract.ts'

const timeoutMs = 8_000

/** The setting that every failed step concerns. */
const field = 'SERVER_DOMAIN_NAME'

/**
 * Returns the base of links: the domain name (a name, a name with port, or an address), else the server's own address.
 */
export const linkBase = (domainName: string, serverUrl: string): string => {
  if (domainName === '') return serverUrl.replace(/(?<!\/)\/+$/, '')
  if (/^https?:\/\//i.test(domainName)) return domainName.replace(/(?<!\/)\/+$/, '')
  const base = new URL(serverUrl)
  // Replaces only the authority. An invalid host leaves the address unchanged.
  base.host = domainName
  return base.origin
}

/** Requests the address. Returns its certificate, and whether the response comes from this product. */
const probe = (url: URL, lookup: Destination['lookup']) =>
  new Promise<{ status: number; certificate: DetailedPeerCertificate | null; isKnown: boolean }>((resolve, reject) => {
    // The certificate is checked below, so that the message can name the fault.
    const tls = { rejectUnauthorized: false }
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const call = send(new URL('/healthz', url), { lookup, timeout: timeoutMs, ...tls }, (answer) => {
      const { socket } = answer
      const certificate = 'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate(true) : null
      answer.resume()
      const isKnown = 'authorized' in socket && (socket as TLSSocket).authorized
      resolve({ status: answer.statusCode ?? 0, certificate, isKnown })
    })
    call.on('timeout', () => call.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)))
    call.on('error', reject)
    call.end()
  })

const certificateStep = (
  url: URL,
  certificate: DetailedPeerCertificate | null,
  isKnown: boolean,
  now: number,
): ConfigTestStep => {
  const step = 'Certificate'
  if (certificate === null)
    return {
      step,
      ok: false,
      field,
      message: 'Links use plain HTTP, so the server cannot prove its identity. Serve HTTPS, or use a proxy that does.',
    }
  const fault = checkServerIdentity(url.hostname.replace(/^\[|\]$/g, ''), certificate)
  if (fault !== undefined)
    return { step, ok: false, field, message: `The certificate is for another name: ${fault.message}` }
  const days = Math.floor((Date.parse(certificate.valid_to) - now) / 86_400_000)
  if (days < 0)
    return { step, ok: false, field, message: `The certificate expired on ${certificate.valid_to}. Renew it.` }
  const summary = `The certificate names ${url.hostname} and expires in ${days} days`
  return isKnown
    ? { step, ok: true, message: `${summary}.` }
    : {
        step,
        ok: false,
        field,
        message: `${summary}, but this machine does not trust its issuer. Browsers show a warning unless they trust that authority.`,
      }
}

/** Tests the server's domain name as a browser on another machine would. */
export const testDomain = async (
  domainName: string,
  serverUrl: string,
  now: number,
  resolve: ResolveDestination,
): Promise<ConfigTested> => {
  const url = new URL(linkBase(domainName, serverUrl))
  const steps: ConfigTestStep[] = []
  const end = (): ConfigTested => ({ ok: steps.every(({ ok }) => ok), steps })
  let lookup: Destination['lookup']
  try {
    const destination = await resolve(url.hostname)
    lookup = destination.lookup
    steps.push({ step: 'Name', ok: true, message: `${url.hostname} resolves to ${destination.address}.` })
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error
    steps.push({ step: 'Name', ok: false, field, message: `${error.message} Add it to your DNS.` })
    return end()
  }
  try {
    const { status, certificate, isKnown } = await probe(url, lookup)
    steps.push(
      status === 200
        ? { step: 'Answer', ok: true, message: `${url.origin} reaches this product.` }
        : {
            step: 'Answer',
            ok: false,
            field,
            message: `${url.origin} answers ${status}. Another server uses this address, or a proxy does not forward requests.`,
          },
    )
    steps.push(certificateStep(url, certificate, isKnown, now))
  } catch (error) {
    steps.push({
      step: 'Answer',
      ok: false,
      field,
      message: `${url.origin} does not answer (${(error as Error).message}). Check the name, port and firewall.`,
    })
  }
  return end()
}
