import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { channelLabels as channelTexts, deliveryStateLabels } from '#features/contract.ts'

export const channelLabels = messages(channelTexts)
export const deliveryLabels = messages(deliveryStateLabels)
