import { messages } from '../../lib/messages.ts'

export const strings = messages({
  running: 'In progress',
  done: 'Done',
  failed: 'Failed',
})
