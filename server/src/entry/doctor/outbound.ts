import { lookup } from 'node:dns/promises'
import { connect, type TcpNetConnectOpts } from 'node:net'
import { cleanText } from '@portcullis/domain'
import type { Config } from '@portcullis/platform/server/config.ts'
import {
  createDestinations,
  DestinationError,
  type ResolveDestination,
  routeTo,
} from '@portcullis/platform/server/destinations.ts'
import type { OutboundProxy } from '@portcullis/platform/server/outbound-proxy.ts'
import { error, type Finding, ok, reasonOf, warning } from './finding.ts'

/** A configured destination of the server. */
export interface Outbound {
  name: string
  host: string
  port: number
  /** Datagrams are not answered, so the check only resolves the name. */
  isDatagram?: boolean
  /** The server may reach it through its HTTP proxy. */
  isHttps?: boolean
  /** Configured by the environment, and so by the operator of the server: not subject to the outbound rules. */
  isOfEnvironment?: boolean
}

/** Configuration items that contain destinations. */
export const outboundItems = ['SMTP_HOST', 'SMTP_PORT', 'LDAP_URL', 'OIDC_ISSUER', 'ISE_URL', 'CACT_URL'] as const

const defaultPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'ldap:': 389,
  'ldaps:': 636,
  'nats:': 4222,
  'tls:': 4222,
}

const fromUrl = (name: string, text: string): Outbound[] => {
  if (!URL.canParse(text)) return []
  const { protocol, hostname, port } = new URL(text)
  const host = hostname.replace(/^\[|\]$/g, '')
  const at = { name, host, port: Number(port) || (defaultPorts[protocol] ?? 443) }
  return host === '' ? [] : [protocol === 'https:' ? { ...at, isHttps: true } : at]
}

const fromAddress = (name: string, text: string, defaultPort: number): Outbound[] => {
  const [, six, four, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  const host = six ?? four
  return host === undefined ? [] : [{ name, host, port: Number(port ?? defaultPort) }]
}

const syslogPorts: Readonly<Record<string, number>> = { udp: 514, tcp: 601, tls: 6514 }

export const configuredTargets = (
  items: ReadonlyMap<string, string>,
  channels: readonly { group: number; url: string; syslog: string; protocol: string }[],
): Outbound[] => {
  const of = (name: string): string => items.get(name) ?? ''
  return [
    ...(of('SMTP_HOST') === '' ? [] : [{ name: 'mail', host: of('SMTP_HOST'), port: Number(of('SMTP_PORT') || 587) }]),
    ...of('LDAP_URL')
      .split(/\s+/)
      .flatMap((url) => fromUrl('directory', url)),
    ...fromUrl('identity provider', of('OIDC_ISSUER')),
    ...fromUrl('Cisco ISE', of('ISE_URL')),
    ...fromUrl('CounterACT', of('CACT_URL')),
    ...channels.flatMap(({ group, url, syslog, protocol }) => [
      ...fromUrl(`webhook of group ${group}`, url),
      ...fromAddress(`syslog of group ${group}`, syslog, syslogPorts[protocol] ?? 514).map((target) => ({
        ...target,
        isDatagram: protocol === 'udp',
      })),
    ]),
  ]
}

export const environmentTargets = ({ natsUrl, kafkaBrokers }: Config, traces: string | undefined): Outbound[] =>
  [
    ...(natsUrl?.reveal() ?? '').split(',').flatMap((url) => fromUrl('NATS', url.trim())),
    ...kafkaBrokers.flatMap((broker) => fromAddress('Kafka', broker, 9092)),
    ...fromUrl('traces', traces ?? ''),
  ].map((target) => ({ ...target, isOfEnvironment: true }))

const connectMs = 5_000

/** Opens a connection and closes it. Sends nothing: neither a greeting nor a secret. */
const reach = (to: TcpNetConnectOpts): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ ...to, timeout: connectMs })
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${connectMs / 1_000} s`)))
    socket.once('error', reject)
  })

const checkTarget = async (
  target: Outbound,
  resolve: ResolveDestination,
  proxy: OutboundProxy | null,
): Promise<Finding> => {
  const { host, port } = target
  const name = `to ${target.name}`
  const seen = `${cleanText(host)}:${port}`
  let isThroughProxy = false
  try {
    if (target.isOfEnvironment === true) {
      await lookup(host)
      await reach({ host, port })
    } else if (proxy !== null && target.isHttps === true && (await routeTo(resolve, host, port)).agent !== false) {
      isThroughProxy = true
      await reach({ host: proxy.host, port: proxy.port })
    } else {
      const destination = await resolve(host)
      if (target.isDatagram !== true) await reach({ host: destination.host, port, lookup: destination.lookup })
    }
  } catch (fault) {
    if (fault instanceof DestinationError && fault.fault === 'refused')
      return error(
        name,
        `${seen} resolves to an address that this server does not connect to`,
        'Correct the destination. For a service on this machine, add its address to PORTCULLIS_OUTBOUND_ALLOW and restart the server.',
      )
    return warning(
      name,
      `${seen}${isThroughProxy ? ', through the proxy' : ''}: ${reasonOf(fault)}`,
      'Check the name, the firewall and whether the service runs. Messages wait until it can be reached.',
    )
  }
  return ok(
    name,
    `${seen} ${isThroughProxy ? 'goes through the proxy, which can be reached' : target.isDatagram === true ? 'can be resolved; datagrams are not answered' : 'can be reached'}`,
  )
}

/** Checks all destinations concurrently, so that ten without a response take as long as one. */
export const outbound = (config: Config, targets: readonly Outbound[]): Promise<Finding[]> => {
  const resolve = createDestinations(config.outboundAllow, undefined, config.outboundProxy)
  return Promise.all(targets.map((target) => checkTarget(target, resolve, config.outboundProxy)))
}
