/** A line from a stream of bytes. */
export interface SplitLine {
  /** Null if the line is too long, not UTF-8, or has no line end. */
  text: string | null
}

// Without ignoreBOM, three bytes at the start could be added or removed unnoticed.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

/** Splits a stream of bytes into lines. A line uses at most `bound` bytes of memory. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bound: number,
): AsyncGenerator<SplitLine[]> {
  let rest: Buffer = Buffer.alloc(0)
  let isTooLong = false
  for await (const chunk of chunks) {
    const lines: SplitLine[] = []
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, at)
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      lines.push({ text: isTooLong || bytes.length > bound ? null : decode(bytes) })
      rest = Buffer.alloc(0)
      isTooLong = false
      from = at + 1
    }
    if (from < chunk.length) {
      const piece = chunk.subarray(from)
      isTooLong ||= rest.length + piece.length > bound
      rest = isTooLong ? Buffer.alloc(0) : Buffer.concat([rest, piece])
    }
    yield lines
  }
  if (rest.length > 0 || isTooLong) yield [{ text: null }]
}
