import { messages } from '../../lib/messages.ts'

export const strings = messages({
  whatTheseHostsHadAttachedLately:
    'What these hosts had attached lately is looked back at for a few hosts, for one tag or for all.',
  whatWouldHaveBeenBlocked: 'What would have been blocked',
  daysToLookBackOver: 'Days to look back over',
  valueDays: '{value} days',
  lookingBack: 'Looking back …',
  attackTool: 'attack tool',
  valuePlainlinkOnDevicetext: '{value}{plainLink} on {deviceText}',
  andPeripheralsMore: 'and {peripherals, number} more',
})
