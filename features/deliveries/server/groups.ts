import type { Secret } from '@portcullis/platform/server/secret.ts'
import type { SyslogAddress } from '@portcullis/platform/server/syslog/index.ts'
import type { SyslogFormat } from '#features/contract.ts'
import type { EventChoice } from '#features/events/server/index.ts'
import type { OutputKey } from './outputs.store.ts'

/** The current webhook of a group. */
export interface WebhookTarget {
  url: string
  secret: Secret
  /** PEM certificates to trust instead of the system's; empty: the system's. */
  ca: readonly string[]
}

export interface SyslogTarget {
  kind: 'syslog'
  address: SyslogAddress
  ca: readonly string[]
  format: SyslogFormat
}

/** An active stream of events. */
export interface OutputPlan extends OutputKey {
  groupName: string
  /** Destination, for people. */
  destination: string
  wanted: EventChoice
  /** Returns the destination, or null if its secret cannot be opened. */
  open(): SyslogTarget | ({ kind: 'webhook' } & WebhookTarget) | null
}

/** The deliveries' view of the groups. Read for every attempt, because the configuration may change in between. */
export interface DeliveryGroups {
  /** Returns the active streams. */
  plans(): Promise<readonly OutputPlan[]>
  /** Returns the webhook of a group, or null if it has no active one. */
  webhookOf(groupId: number): Promise<WebhookTarget | null>
  /** Returns whether a group still mails to this address. */
  isRecipient(groupId: number, address: string): Promise<boolean>
}
