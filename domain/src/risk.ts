/** How sure a match with a known attack tool is: a list match is suspected, behaviour is confirmed. */
export type AttackLevel = 'suspected' | 'confirmed'

/** Severity of a device or host as the wire contract has it. */
export type Severity = 10 | 20 | 30 | 40 | 50

/** 10 nothing to see, 20 unapproved, 30 vulnerable, 40 suspected attack tool, 50 confirmed one: the highest that holds. */
export const severityOf = (state: {
  unapproved?: boolean
  vulnerable?: boolean
  attackTool?: AttackLevel | null
}): Severity => {
  if (state.attackTool === 'confirmed') return 50
  if (state.attackTool === 'suspected') return 40
  if (state.vulnerable) return 30
  return state.unapproved ? 20 : 10
}

/** Severity of one device: that of its design, or that of being unapproved, whichever is higher. */
export const deviceSeverity = (design: number, unapproved: boolean): number =>
  Math.max(design, severityOf({ unapproved }))

/** One reason for a risk score. */
export interface RiskFactor {
  /** Short name of the reason (`attackTool`, `vulnerable`, ...). */
  factor: string
  /** What it adds to the score; anything below 0 adds nothing. */
  points: number
  /** What was seen, for people. */
  evidence: string
}

/** Adds the points of all factors up, 0 to 100, and gives the factors back with the weightiest first. */
export const riskScore = (factors: readonly RiskFactor[]): { score: number; factors: RiskFactor[] } => {
  const counted = factors.filter((f) => f.points > 0).sort((a, b) => b.points - a.points)
  const sum = counted.reduce((total, f) => total + f.points, 0)
  return { score: Math.min(100, Math.round(sum)), factors: counted }
}
