import type { Channel, DeliveryState } from '@portcullis/contract'
import { strings } from './strings.ts'

/** Channels of notification groups, for people. */
export const channelWords: Readonly<Record<Channel, string>> = {
  email: strings.mail,
  webhook: strings.webhook,
  syslog: strings.syslog,
}

/** Where a message stands. */
export const deliveryWords: Readonly<Record<DeliveryState, string>> = {
  waiting: 'waits',
  delivered: 'delivered',
  failed: 'refused',
  dropped: 'dropped',
}
