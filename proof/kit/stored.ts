/** Compares the reports that the server acknowledged with the rows that its database stores. */

import { attachmentKinds, eventCatalogue } from '@portcullis/features/contract.ts'
import pg from 'pg'
import type { ReportingHost } from './reporting-host.ts'

const attachments = attachmentKinds.map((kind) => Number(eventCatalogue[kind].code))

/** Connection settings of a database. */
export type Connection = pg.ClientConfig

/** Opens a separate connection. */
export const connect = async (connection: Connection): Promise<pg.Client & AsyncDisposable> => {
  const client = new pg.Client(connection)
  // A database that is about to be killed closes its connections. The running statement reports that error.
  client.on('error', () => {})
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end().catch(() => {}) })
}

/** Opens a separate connection for `work` and closes it. */
export const withClient = async <T>(connection: Connection, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  await using client = await connect(connection)
  return await work(client)
}

/** Returns true if a database responds. */
export const answers = (connection: Connection): Promise<boolean> =>
  withClient({ ...connection, connectionTimeoutMillis: 2_000 }, (client) => client.query('SELECT 1')).then(
    () => true,
    () => false,
  )

export interface Comparison {
  acknowledged: number
  /** Acknowledged reports that are not stored. */
  lost: number
  /** Reports stored more than once, as a device or as an event. */
  twice: number
  resent: number
  shed: number
  refused: number
}

/** Compares each acknowledged stick with the stored peripherals and with its attachment events. */
export const compareStored = (connection: Connection, hosts: readonly ReportingHost[]): Promise<Comparison> =>
  withClient(connection, async (client) => {
    const ids = hosts.map(({ agentId }) => agentId)
    const { rows: stored } = await client.query<{ serial: string; n: number }>(
      'SELECT serial, count(*)::int AS n FROM peripherals WHERE agent_id = ANY($1) GROUP BY 1',
      [ids],
    )
    // A serial number is attached only once, so a second attachment event means that a report was processed twice.
    const { rows: events } = await client.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM events WHERE agent_id = ANY($1) AND code = ANY($2) GROUP BY agent_id, device_id HAVING count(*) > 1',
      [ids, attachments],
    )
    const there = new Set(stored.map(({ serial }) => serial))
    const all = hosts.flatMap(({ reported }) => reported.acknowledged)
    return {
      acknowledged: all.length,
      lost: all.filter((serial) => !there.has(serial)).length,
      twice: stored.filter(({ n }) => n > 1).length + events.length,
      resent: hosts.reduce((sum, { reported }) => sum + reported.resent, 0),
      shed: hosts.reduce((sum, { reported }) => sum + reported.shed, 0),
      refused: hosts.reduce((sum, { reported }) => sum + reported.refused.length, 0),
    }
  })
