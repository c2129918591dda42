/** Why somebody is to be told: it came up, came up again, or is over. */
export type News = 'opened' | 'reopened' | 'resolved'

/** A notice that somebody may have to be told of. */
export interface NoticeNews {
  noticeId: number
  turn: number
  /** Null: it is news only for those who would not have heard of it before, by its severity or its tags. */
  news: News | null
  /** What was known of it; null: nothing. */
  before: { severity: number; tags: ReadonlySet<string> } | null
  /** Kind of a risk notice, or subsystem of a health notice. */
  id: string
  list: 'risk' | 'health'
  severity: number
  tags: ReadonlySet<string>
}
