import { messages } from '@portcullis/platform/console/lib/messages.ts'

/** The texts of the bell, which are in the first load. */
export const strings = messages({
  bellNoneUnread: 'Alerts, none unread',
  bellUnread: 'Alerts, {unread, number} unread',
})
