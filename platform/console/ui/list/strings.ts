import { messages } from '../../lib/messages.ts'

export const strings = messages({
  more: 'More',
  yes: 'Yes',
  no: 'No',
})
