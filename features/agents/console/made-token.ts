import type { createEnrollmentToken, ResponseOf } from '#features/contract.ts'

/** A new enrolment token. The server returns its text once. */
export type MadeToken = ResponseOf<typeof createEnrollmentToken>
