import { isIP } from 'node:net'

export type SyslogProtocol = 'udp' | 'tcp' | 'tls'

export interface SyslogAddress {
  protocol: SyslogProtocol
  /** Name or address, IPv6 without brackets. */
  host: string
  port: number
}

/** Registered ports: syslog, syslog-conn (RFC 6587 defines none) and syslog-tls (RFC 5425). */
const defaultPorts: Readonly<Record<SyslogProtocol, number>> = { udp: 514, tcp: 601, tls: 6514 }

const name = /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})*\.?$/

/** Parses `host`, `host:port`, `[v6]`, `[v6]:port` or a bare IPv6 address; null for anything else. */
export const parseSyslogAddress = (text: string, protocol: SyslogProtocol): SyslogAddress | null => {
  if (isIP(text) === 6 && !text.includes('%')) return { protocol, host: text, port: defaultPorts[protocol] }
  const parts = /^(?:\[([^\]%]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text)
  if (parts === null) return null
  const [, v6, plain, digits] = parts
  const port = digits === undefined ? defaultPorts[protocol] : Number(digits)
  if (port < 1 || port > 65_535) return null
  if (v6 !== undefined) return isIP(v6) === 6 ? { protocol, host: v6, port } : null
  return plain !== undefined && name.test(plain) ? { protocol, host: plain, port } : null
}
