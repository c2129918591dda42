import type { AlertVerdict } from '@portcullis/contract'
import type { Line } from '../shared/line.ts'

/** What the handling of an alert needs to know. */
export type Case = Pick<Line, 'id' | 'title' | 'state' | 'owner' | 'needsVerdict'>

export interface Closing {
  verdict: AlertVerdict | ''
  comment: string
}
