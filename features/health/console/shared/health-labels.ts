import { healthStatusLabels } from '@portcullis/contract'
import { messages } from '@portcullis/platform/console/lib/messages.ts'

/** Labels of health states, the same as in the API, events and guides. */
export const healthWords = messages(healthStatusLabels)
