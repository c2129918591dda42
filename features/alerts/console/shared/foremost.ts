import { parseTime } from '@portcullis/platform/console/lib/time.ts'
import type { InboxList, Line } from './line.ts'

export interface Listed {
  list: InboxList
  line: Line
}

/** Returns the most severe alerts; of the same severity, those that happened last. */
export const foremostOf = (some: readonly Listed[], most: number): Listed[] =>
  some
    .toSorted(
      (a, b) =>
        a.line.rank - b.line.rank ||
        (parseTime(b.line.lastAt) ?? 0) - (parseTime(a.line.lastAt) ?? 0) ||
        b.line.id - a.line.id,
    )
    .slice(0, most)
