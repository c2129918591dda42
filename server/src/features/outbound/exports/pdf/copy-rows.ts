/** Reads rows in the text form of PostgreSQL's COPY from chunks cut anywhere. */

const lineFeed = 10
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

const cellOf = (text: string): string => {
  if (!text.includes('\\')) return text
  if (text === '\\N') return ''
  return text.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character)
}

export const createCopyReader = () => {
  let rest: Buffer = Buffer.alloc(0)
  const rows: string[][] = []
  return {
    rows,
    add: (chunk: Uint8Array): void => {
      const bytes =
        rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([rest, chunk])
      const end = bytes.lastIndexOf(lineFeed)
      rest = bytes.subarray(end + 1)
      if (end < 0) return
      for (const line of bytes.toString('utf8', 0, end).split('\n')) rows.push(line.split('\t').map(cellOf))
    },
  }
}
