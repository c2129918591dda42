import type { ConfigTested, ConfigTestStep } from '@portcullis/contract'

/** Ends a test at the failed step. The message says what to do. */
export class StepFailure extends Error {}

export interface Steps {
  /** Runs one step. Its text is the result; `messageOf` explains a failure. */
  run(step: string, work: () => Promise<string> | string): Promise<void>
  /** Adds a failed step without ending the test. */
  fail(step: string, message: string): void
  done(step: string, message: string): void
}

/** Runs a test step by step, up to the first failure. */
export const inSteps = async (
  messageOf: (error: unknown) => string,
  work: (steps: Steps) => Promise<void>,
): Promise<ConfigTested> => {
  const steps: ConfigTestStep[] = []
  const control: Steps = {
    run: async (step, run) => {
      try {
        steps.push({ step, ok: true, message: await run() })
      } catch (error) {
        steps.push({ step, ok: false, message: error instanceof StepFailure ? error.message : messageOf(error) })
        throw new StepFailure()
      }
    },
    fail: (step, message) => steps.push({ step, ok: false, message }),
    done: (step, message) => steps.push({ step, ok: true, message }),
  }
  try {
    await work(control)
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
  }
  return { ok: steps.length > 0 && steps.every(({ ok }) => ok), steps }
}
