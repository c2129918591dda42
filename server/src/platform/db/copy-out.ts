import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'

/**
 * Returns the output of a COPY … TO STDOUT. Handles its errors even after the reader left: pg reports a closed
 * connection, and an unhandled error event would end the process.
 */
export const copyOut = (client: Pick<pg.ClientBase, 'query'>, statement: string): Readable => {
  const copy = client.query(copyTo(statement))
  copy.on('error', () => {})
  return copy
}
