import type { Channel, DeliveryState } from '@portcullis/contract'

/** Channels of notification groups, for people. */
export const channelWords: Readonly<Record<Channel, string>> = { email: 'Mail', webhook: 'Webhook', syslog: 'Syslog' }

/** Where a message stands. */
export const deliveryWords: Readonly<Record<DeliveryState, string>> = {
  waiting: 'waits',
  delivered: 'delivered',
  failed: 'refused',
  dropped: 'dropped',
}
