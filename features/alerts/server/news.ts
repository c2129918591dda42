/** Why a group is notified: an alert opened, reopened or resolved. */
export type News = 'opened' | 'reopened' | 'resolved'

/** A change of an alert that may need a notification. */
export interface AlertNews {
  alertId: number
  turn: number
  /** Null: news only for groups that its earlier severity or tags did not reach. */
  news: News | null
  /** Severity and tags before the change; null: new. */
  before: { severity: number; tags: ReadonlySet<string> } | null
  /** Kind of a risk alert, or subsystem of a health alert. */
  id: string
  list: 'risk' | 'health'
  severity: number
  tags: ReadonlySet<string>
}
