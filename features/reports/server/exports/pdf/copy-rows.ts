/** Reads rows in the text form of PostgreSQL's COPY from chunks cut anywhere. */

const lineFeed = 10
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

const cellOf = (text: string): string => {
  if (!text.includes('\\')) return text
  if (text === '\\N') return ''
  return text.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character)
}

/** Creates a reader that passes each row to `onRow`. */
export const createCopyReader = (onRow: (row: string[]) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  return {
    add: (chunk: Uint8Array): void => {
      const bytes =
        rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([rest, chunk])
      const end = bytes.lastIndexOf(lineFeed)
      rest = bytes.subarray(end + 1)
      if (end < 0) return
      for (const line of bytes.toString('utf8', 0, end).split('\n')) onRow(line.split('\t').map(cellOf))
    },
  }
}
