import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'

/**
 * What a COPY … TO STDOUT gives. When its reader leaves before the first row, nobody listens to it any more, and pg still
 * tells it of the end of its connection: unheard of, that error would end the process.
 */
export const copyOut = (client: Pick<pg.ClientBase, 'query'>, statement: string): Readable => {
  const copy = client.query(copyTo(statement))
  copy.on('error', () => {})
  return copy
}
