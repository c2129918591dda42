import { messages } from '../../lib/messages.ts'

export const strings = messages({
  email: 'Email',
  webhook: 'Webhook',
  syslog: 'Syslog',
  waiting: 'waiting',
  delivered: 'delivered',
  failed: 'refused',
  dropped: 'dropped',
})
