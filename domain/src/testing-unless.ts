/** Options of a test or suite that is skipped for `reason`; without a reason it runs. The test run prints the reason. */
export const unless = (reason: string | null | undefined): { skip?: true; meta?: object } =>
  reason == null ? {} : { skip: true, meta: { skipReason: reason } }
