import type { ConfigTested, ConfigTestStep } from '#features/contract.ts'

/** Ends a test at the failed step. The message says what to do, and `field` names the setting to correct. */
export class StepFailure extends Error {
  readonly field: string | undefined
  constructor(message?: string, field?: string) {
    super(message)
    this.field = field
  }
}

/** Why a step failed. */
export interface StepFault {
  message: string
  /** Setting to correct; undefined: none of them. */
  field: string | undefined
}

const failed = (step: string, { message, field }: StepFault): ConfigTestStep => ({
  ...{ step, ok: false, message },
  ...(field === undefined ? {} : { field }),
})

export interface Steps {
  /** Runs one step. Its text is the result; `faultOf` explains a failure. */
  run(step: string, work: () => Promise<string> | string): Promise<void>
  /** Adds a failed step without ending the test. */
  fail(step: string, fault: StepFault): void
  done(step: string, message: string): void
}

/** Runs a test step by step, up to the first failure. */
export const inSteps = async (
  faultOf: (error: unknown) => StepFault,
  work: (steps: Steps) => Promise<void>,
): Promise<ConfigTested> => {
  const steps: ConfigTestStep[] = []
  const control: Steps = {
    run: async (step, run) => {
      try {
        steps.push({ step, ok: true, message: await run() })
      } catch (error) {
        steps.push(failed(step, error instanceof StepFailure ? error : faultOf(error)))
        throw new StepFailure()
      }
    },
    fail: (step, fault) => steps.push(failed(step, fault)),
    done: (step, message) => steps.push({ step, ok: true, message }),
  }
  try {
    await work(control)
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
  }
  return { ok: steps.length > 0 && steps.every(({ ok }) => ok), steps }
}
