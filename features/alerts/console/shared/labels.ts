import { channelLabels as channelTexts, deliveryStateLabels } from '@portcullis/contract'
import { messages } from '@portcullis/platform/console/lib/messages.ts'

export const channelLabels = messages(channelTexts)
export const deliveryLabels = messages(deliveryStateLabels)
