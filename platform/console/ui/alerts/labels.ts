import { channelLabels as channelTexts, deliveryStateLabels } from '@portcullis/contract'
import { messages } from '../../lib/messages.ts'

export const channelLabels = messages(channelTexts)
export const deliveryLabels = messages(deliveryStateLabels)
