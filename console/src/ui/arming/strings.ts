import { messages } from '../../lib/messages.ts'

export const strings = messages({
  title: 'Devices that arming blocks',
  period: 'Period',
  loading: 'Checking past attachments…',
  attackTool: 'Attack tool',
  more: 'and {count, number} more',
  days: '{count, plural, one {# day} other {# days}}',
  deviceOnHost: '{device} on {host}',
  times: '{count, plural, =0 {Attached before} one {# time} other {# times}}',
})
