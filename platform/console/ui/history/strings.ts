import { messages } from '../../lib/messages.ts'

export const strings = messages({
  versions: 'Versions',
  newer: 'Newer',
  older: 'Older',
})
