import type { Channel, DeliveryState } from '@portcullis/contract'
import { strings } from './strings.ts'

/** Channels of notification groups. */
export const channelLabels: Readonly<Record<Channel, string>> = {
  email: strings.email,
  webhook: strings.webhook,
  syslog: strings.syslog,
}

/** States of a delivery. */
export const deliveryLabels: Readonly<Record<DeliveryState, string>> = {
  waiting: strings.waiting,
  delivered: strings.delivered,
  failed: strings.failed,
  dropped: strings.dropped,
}
