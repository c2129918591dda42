import type { ConfigTested, ConfigTestStep } from '@portcullis/contract'

/** Ends a test at the step that failed; its message says what helps. */
export class StepFailure extends Error {}

export interface Steps {
  /** Runs one step; its text says what was seen. `words` turns a failure into what helps. */
  run(step: string, work: () => Promise<string> | string): Promise<void>
  /** A step that failed without ending the test. */
  fail(step: string, message: string): void
  done(step: string, message: string): void
}

/** Tries something step by step, up to the first that fails. */
export const inSteps = async (
  words: (error: unknown) => string,
  work: (steps: Steps) => Promise<void>,
): Promise<ConfigTested> => {
  const steps: ConfigTestStep[] = []
  const steering: Steps = {
    run: async (step, run) => {
      try {
        steps.push({ step, ok: true, message: await run() })
      } catch (error) {
        steps.push({ step, ok: false, message: error instanceof StepFailure ? error.message : words(error) })
        throw new StepFailure()
      }
    },
    fail: (step, message) => steps.push({ step, ok: false, message }),
    done: (step, message) => steps.push({ step, ok: true, message }),
  }
  try {
    await work(steering)
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
  }
  return { ok: steps.length > 0 && steps.every(({ ok }) => ok), steps }
}
