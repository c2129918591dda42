import { type Readable, Transform } from 'node:stream'

const [lineFeed, quote] = [10, 34]

/** Passes content through and counts its rows by line feeds; in CSV, only those outside quotes. */
export const countedRows = (content: Readable, kind: 'csv' | 'lines'): { content: Readable; rows: () => number } => {
  // The header of a CSV is not a row.
  let rows = kind === 'csv' ? -1 : 0
  let isQuoted = false
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at]
        if (byte === quote && kind === 'csv') isQuoted = !isQuoted
        else if (byte === lineFeed && !isQuoted) rows++
      }
      done(null, chunk)
    },
  })
  content.once('error', (error) => counting.destroy(error))
  counting.once('close', () => content.destroy())
  content.pipe(counting)
  return { content: counting, rows: () => Math.max(0, rows) }
}
