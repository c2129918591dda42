import type { AlertVerdict } from '#features/contract.ts'
import type { Line } from '../shared/line.ts'

/** What the handling of an alert needs to know. */
export type Case = Pick<Line, 'id' | 'title' | 'state' | 'owner' | 'needsVerdict'>

export interface Closing {
  verdict: AlertVerdict | ''
  comment: string
  /** IDs of findings to close with the same verdict. */
  findings: readonly number[]
}
