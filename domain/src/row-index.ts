/** Finds rows by VID and PID: exact matches first, then ranges, then rows for a whole vendor. */
export interface RowIndex<Row> {
  find(vid: string, pid: string): readonly Row[]
}

interface Keyed {
  vid?: string | null
  pid?: string | null
  pidTo?: string
}

/** Indexes rows by `vid`, `pid` and `pidTo`. Rows without a `vid` are skipped. */
export const createRowIndex = <Source extends Keyed, Row>(
  sources: readonly Source[],
  compile: (source: Source) => Row,
): RowIndex<Row> => {
  const exact = new Map<string, Row[]>()
  const wide = new Map<string, { from: string; to: string; row: Row }[]>()
  for (const source of sources) {
    if (!source.vid) continue
    const row = compile(source)
    if (source.pid && !source.pidTo) {
      const key = source.vid + source.pid
      exact.set(key, [...(exact.get(key) ?? []), row])
    } else {
      const from = source.pid ?? '0000'
      const to = source.pidTo ?? 'FFFF'
      wide.set(source.vid, [...(wide.get(source.vid) ?? []), { from, to, row }])
    }
  }
  // Narrow ranges come first, because they are more specific.
  for (const rows of wide.values()) rows.sort((a, b) => width(a) - width(b))
  return {
    find: (vid, pid) => {
      const found = exact.get(vid + pid) ?? []
      const ranges = wide.get(vid)
      // Four hex digits in the same case sort as text in the same order as numbers.
      return ranges ? [...found, ...ranges.filter((r) => r.from <= pid && pid <= r.to).map((r) => r.row)] : found
    },
  }
}

const width = (range: { from: string; to: string }): number =>
  Number.parseInt(range.to, 16) - Number.parseInt(range.from, 16)
