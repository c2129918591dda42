import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { LimitName } from './connection-limits.ts'
import type { Connections } from './connections.ts'

/** What was closed or refused, for the log. */
const texts: Readonly<Record<LimitName, string>> = {
  total: 'all connections of this process are in use',
  address: 'an address has too many connections',
  strangers: 'an address has too many connections without a credential',
  silent: 'an address has too many connections without a credential that send nothing or read slowly',
  credential: 'a session or API token has too many connections',
  account: 'an account has too many connections',
  machine: 'an agent or worker has too many connections',
  unanswered: 'a client sends requests without waiting for their responses',
  rate: 'a client reads its response too slowly',
  unread: 'clients of an address, account or host leave too many bytes unread',
  download: 'an address has too many downloads',
  downloads: 'too many downloads are running',
}

/** Returns a function that counts and logs a connection or download that a limit closed or refused. */
export const createLimited = ({ log, metrics }: { log: Log; metrics: Metrics }): ((limit: LimitName) => void) => {
  const refused = metrics.counter(
    'portcullis_connections_refused_total',
    'Connections and downloads that a limit closed or refused.',
    ['limit'],
  )
  return (limit) => {
    refused.inc({ limit })
    log.warn({ cause: limit }, `closed or refused a connection: ${texts[limit]}`)
  }
}

/** Registers the number of open connections. */
export const measureConnections = ({ figures }: Pick<Connections, 'figures'>, metrics: Metrics): void => {
  metrics.read('portcullis_connections', 'gauge', 'Open connections, by whether a credential was verified.', () => {
    const { known, strangers } = figures()
    return [
      { labels: { credential: 'verified' }, value: known },
      { labels: { credential: 'none' }, value: strangers },
    ]
  })
  metrics.read('portcullis_connections_limit', 'gauge', 'Maximum connections of this process.', () => figures().total)
}
