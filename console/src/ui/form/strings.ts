import { messages } from '../../lib/messages.ts'

export const strings = messages({
  close: 'Close',
  cancel: 'Cancel',
  beginCertificate: '-----BEGIN CERTIFICATE-----',
  readAFile: 'Read a file…',
  countCertificates: '{count} certificates',
  leaveWithoutSaving: 'Leave without saving?',
  whatYouEnteredOnThisPage: 'What you entered on this page is not saved, and would be lost.',
  leave: 'Leave',
  stay: 'Stay',
  reason: 'Reason',
})
