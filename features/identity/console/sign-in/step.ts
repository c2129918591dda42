import type { SecondFactor } from '../shared/session.ts'

/** What each kind of second factor needs from the step that asks for it. */
export interface StepProps {
  /** Signs in. Returns false if the server refused the factor and another attempt is possible. */
  prove: (factor: SecondFactor, refusalOf: (failure: unknown) => string | null) => Promise<boolean>
  refuse: (text: string | null) => void
}
