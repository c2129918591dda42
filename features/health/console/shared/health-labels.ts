import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { healthStatusLabels } from '#features/contract.ts'

/** Labels of health states, the same as in the API, events and guides. */
export const healthWords = messages(healthStatusLabels)
