/** Confidence of an attack tool finding. */
export type AttackLevel = 'suspected' | 'confirmed'

/** Severity of a device or host in the interface. */
export type Severity = 10 | 20 | 30 | 40 | 50

/** Returns the highest severity that applies: 10 no finding, 20 not on the allowlist, 30 vulnerable, 40 suspected attack tool, 50 confirmed. */
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

/** Returns the severity of a device: the severity of its fingerprint, or of a device that is not on the allowlist if that is higher. */
export const deviceSeverity = (fingerprint: number, unapproved: boolean): number =>
  Math.max(fingerprint, severityOf({ unapproved }))

/** A part of a risk score. */
export interface RiskFactor {
  /** Short name, for example `attackTool` or `vulnerable`. */
  factor: string
  /** Points to add to the score. Negative values add nothing. */
  points: number
  /** Evidence, as text. */
  evidence: string
}

/** Returns the sum of all points, at most 100, and the factors, highest first. */
export const riskScore = (factors: readonly RiskFactor[]): { score: number; factors: RiskFactor[] } => {
  const counted = factors.filter((f) => f.points > 0).sort((a, b) => b.points - a.points)
  const sum = counted.reduce((total, f) => total + f.points, 0)
  return { score: Math.min(100, Math.round(sum)), factors: counted }
}
