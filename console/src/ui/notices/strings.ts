import { messages } from '../../lib/messages.ts'

export const strings = messages({
  mail: 'Mail',
  webhook: 'Webhook',
  syslog: 'Syslog',
})
