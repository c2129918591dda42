import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { checkServerIdentity, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import type { ConfigTested, ConfigTestStep } from '@portcullis/contract'
import { type Destination, DestinationError, type ResolveDestination } from '#platform/destinations.ts'

const timeoutMs = 8_000

/** The base of links: a domain name (a name, a name with port, or a whole address), else where the server listens. */
export const linkBase = (domainName: string, serverUrl: string): string => {
  if (domainName === '') return serverUrl.replace(/(?<!\/)\/+$/, '')
  if (/^https?:\/\//i.test(domainName)) return domainName.replace(/(?<!\/)\/+$/, '')
  const base = new URL(serverUrl)
  // Only the authority is taken over; a name that is no host leaves the address as it was.
  base.host = domainName
  return base.origin
}

/** What stands at the address: its certificate, and whether it is this product. */
const look = (url: URL, lookup: Destination['lookup']) =>
  new Promise<{ status: number; certificate: DetailedPeerCertificate | null; isKnown: boolean }>((resolve, reject) => {
    // The certificate is judged below, so that what is wrong with it can be said.
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
      message: 'Links go to plain HTTP: nobody proves who answers. Serve HTTPS, or put a proxy that does before it.',
    }
  const fault = checkServerIdentity(url.hostname.replace(/^\[|\]$/g, ''), certificate)
  if (fault !== undefined) return { step, ok: false, message: `It is for another name: ${fault.message}` }
  const days = Math.floor((Date.parse(certificate.valid_to) - now) / 86_400_000)
  if (days < 0) return { step, ok: false, message: `It ended on ${certificate.valid_to}.` }
  const said = `It names ${url.hostname} and ends in ${days} days`
  return isKnown
    ? { step, ok: true, message: `${said}.` }
    : {
        step,
        ok: false,
        message: `${said}, but no authority that this machine knows has issued it: browsers warn unless they are given its CA.`,
      }
}

/** Tries the name people reach the server by, as a browser elsewhere would. */
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
    steps.push({ step: 'Name', ok: true, message: `${url.hostname} is ${destination.address}.` })
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error
    steps.push({ step: 'Name', ok: false, message: `${error.message} Enter it into your DNS.` })
    return end()
  }
  try {
    const { status, certificate, isKnown } = await look(url, lookup)
    steps.push(
      status === 200
        ? { step: 'Answer', ok: true, message: `${url.origin} answers as this product does.` }
        : {
            step: 'Answer',
            ok: false,
            message: `${url.origin} answers ${status}: something else stands there, or a proxy that does not pass it on.`,
          },
    )
    steps.push(certificateStep(url, certificate, isKnown, now))
  } catch (error) {
    steps.push({
      step: 'Answer',
      ok: false,
      message: `Nothing answers at ${url.origin} (${(error as Error).message}). Check name, port and firewall.`,
    })
  }
  return end()
}
