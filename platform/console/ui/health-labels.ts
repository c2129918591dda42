import { healthStatusLabels } from '@portcullis/contract'
import { messages } from '../lib/messages.ts'

/** Labels of health states, the same as in the API, events and guides. */
export const healthWords = messages(healthStatusLabels)
