import { messages } from '../../lib/messages.ts'

export const strings = messages({
  close: 'Close',
  cancel: 'Cancel',
  uploadFile: 'Upload file…',
  certificates: '{count, plural, one {# certificate} other {# certificates}}',
  leaveTitle: 'Leave without saving?',
  unsaved: 'Your changes on this page are not saved and will be lost.',
  leave: 'Leave',
  stay: 'Stay',
  reason: 'Reason',
  newPassword: 'New password',
  confirmPassword: 'Confirm new password',
  noTags: 'None',
})
