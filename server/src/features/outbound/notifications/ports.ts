import type { HealthStatus } from '@portcullis/contract'

/** What notifications need of health, which is a higher feature: it watches notifications, too. */
export interface HealthPort {
  /** The worst of what is configured, and when it was looked at; asked outside of transactions, for the list of health notices. */
  overall(): Promise<{ status: HealthStatus; lastUpdated: string }>
}
