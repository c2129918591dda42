import type { HealthStatus } from '#features/contract.ts'

/** Interface to health, a higher capability that also monitors notifications. */
export interface HealthPort {
  /** Returns the worst status of the configured subsystems and its time. Call it outside transactions. */
  overall(): Promise<{ status: HealthStatus; lastUpdated: string }>
}
