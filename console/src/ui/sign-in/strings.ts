import { messages } from '../../lib/messages.ts'

export const strings = messages({
  colorMixInSrgbAccent88: 'color-mix(in srgb, {accent} 88%, {value})',
  portcullis: 'Portcullis',
})
