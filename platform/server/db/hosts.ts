import { StartError } from '../start-error.ts'

/** A PostgreSQL server of a cluster: a name or address, or the folder of a Unix socket. */
export interface DatabaseHost {
  host: string
  port: number
  /** Connection string of this host alone. */
  url: string
}

const form = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)((?:\/[^?#]*)?)(?:\?([^#]*))?$/
const usualPort = 5432

/** Values of libpq's `target_session_attrs` that mean the primary, which is what a server needs. */
const attributes: ReadonlySet<string> = new Set(['read-write', 'primary'])

const portOf = (text: string | undefined): number => {
  const port = text === undefined || text === '' ? usualPort : Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new StartError(`The database address has the port "${text}". Set a number from 1 to 65535.`)
}

const splitHost = (text: string): { host: string; port: string | undefined } => {
  const { host = '', port } = /^(?<host>\[[^\]]*\]|[^:]*)(?::(?<port>.*))?$/.exec(text)?.groups ?? {}
  return { host, port }
}

/** Returns the hosts that an address lists in the authority or, as libpq also accepts, in `host` and `port`. */
const listed = (authority: string, query: URLSearchParams): { host: string; port: number }[] => {
  const hosts = query.get('host')?.split(',') ?? null
  if (hosts === null)
    return authority
      .split(',')
      .map(splitHost)
      .map(({ host, port }) => ({ host, port: portOf(port) }))
  const ports = query.get('port')?.split(',') ?? []
  return hosts.map((host, at) => ({ host, port: portOf(ports.length > 1 ? ports[at] : ports[0]) }))
}

/**
 * Returns the hosts of a connection string in the form of libpq, such as
 * `postgres://user@a,b:5433,c/name?target_session_attrs=read-write`; null if it names a single host.
 * @throws StartError
 */
export const databaseHosts = (address: string): DatabaseHost[] | null => {
  const parts = form.exec(address)
  if (parts === null) return null
  const [, scheme = '', user, authority = '', path = '', search = ''] = parts
  const query = new URLSearchParams(search)
  const hosts = listed(authority, query)
  if (hosts.length < 2) return null
  if (hosts.some(({ host }) => host === ''))
    throw new StartError('The database address lists an empty host name. Remove the extra comma.')
  const wanted = query.get('target_session_attrs') ?? 'read-write'
  if (!attributes.has(wanted))
    throw new StartError(`target_session_attrs of the database address is "${wanted}". Set it to read-write.`)
  for (const name of ['host', 'port', 'target_session_attrs']) query.delete(name)
  return hosts.map(({ host, port }) => {
    const own = new URLSearchParams(query)
    const isSocket = host.startsWith('/')
    if (isSocket) {
      own.set('host', host)
      own.set('port', String(port))
    }
    const rest = own.toString()
    const at = user === undefined ? '' : `${user}@`
    return {
      host: host.replace(/^\[(.*)\]$/, '$1'),
      port,
      url: `${scheme}${at}${isSocket ? '' : `${host}:${port}`}${path}${rest === '' ? '' : `?${rest}`}`,
    }
  })
}

/** Returns how messages name a host. */
export const hostLabel = ({ host, port }: Pick<DatabaseHost, 'host' | 'port'>): string =>
  host.startsWith('/') || !host.includes(':') ? `${host}:${port}` : `[${host}]:${port}`
