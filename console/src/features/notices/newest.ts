import { parseTime } from '../../lib/time.ts'
import type { Line, NoticeList } from './line.ts'

export interface Listed {
  list: NoticeList
  line: Line
}

/** Returns the alerts that happened last; at the same moment, the one that was created later comes first. */
export const newestOf = (some: readonly Listed[], most: number): Listed[] =>
  some
    .toSorted((a, b) => (parseTime(b.line.lastAt) ?? 0) - (parseTime(a.line.lastAt) ?? 0) || b.line.id - a.line.id)
    .slice(0, most)
