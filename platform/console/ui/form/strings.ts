import { withPageWords } from '../words.ts'

export const strings = withPageWords({
  certificates: '{count, plural, one {# certificate} other {# certificates}}',
  leaveTitle: 'Leave without saving?',
  unsaved: 'Your changes on this page are not saved and will be lost.',
  leave: 'Leave',
  stay: 'Stay',
  newPassword: 'New password',
  confirmPassword: 'Confirm new password',
  revokeTokens: '{count, plural, one {Also revoke # API token} other {Also revoke # API tokens}} of this account',
  revokeAllTokens: 'Also revoke all API tokens of this account',
  revokeTokensText: 'API tokens keep working after a new password. Scripts that use revoked tokens stop working.',
})
