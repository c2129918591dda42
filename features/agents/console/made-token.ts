import type { createEnrollmentToken, ResponseOf } from '@portcullis/contract'

/** A new enrolment token. The server returns its text once. */
export type MadeToken = ResponseOf<typeof createEnrollmentToken>
