/** What the database holds of reporting hosts, beside what was acknowledged. */

import { eventCodes } from '@portcullis/contract'
import pg from 'pg'
import type { ReportingHost } from './reporting-host.ts'

const attached = Number(eventCodes.attached.code)

/** How to reach a database. */
export type Connection = pg.ClientConfig

/** Lends a connection of its own. */
export const withClient = async <T>(connection: Connection, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client(connection)
  // A database that is about to be killed ends its connections: the statement under way says so.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Whether a database answers. */
export const answers = (connection: Connection): Promise<boolean> =>
  withClient({ ...connection, connectionTimeoutMillis: 2_000 }, (client) => client.query('SELECT 1')).then(
    () => true,
    () => false,
  )

export interface Comparison {
  acknowledged: number
  /** Acknowledged and not there. */
  lost: number
  /** There more than once, as a device or as an event. */
  twice: number
  resent: number
  shed: number
  refused: number
}

/** Compares each acknowledged stick with the stored peripherals and with the events of its attachment. */
export const compareStored = (connection: Connection, hosts: readonly ReportingHost[]): Promise<Comparison> =>
  withClient(connection, async (client) => {
    const ids = hosts.map(({ agentId }) => agentId)
    const { rows: stored } = await client.query<{ serial: string; n: number }>(
      'SELECT serial, count(*)::int AS n FROM peripherals WHERE agent_id = ANY($1) GROUP BY 1',
      [ids],
    )
    // A serial is attached once in its life: a second event of its attachment is a report that was taken twice.
    const { rows: events } = await client.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM events WHERE agent_id = ANY($1) AND code = $2 GROUP BY agent_id, device_id HAVING count(*) > 1',
      [ids, attached],
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
