/** Returns test options that skip a test or suite if there is a `reason`. The test run prints the reason. */
export const unless = (reason: string | null | undefined): { skip?: true; meta?: object } =>
  reason == null ? {} : { skip: true, meta: { skipReason: reason } }
