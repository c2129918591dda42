import type { ApprovalRefusal } from '@portcullis/domain'

/** Texts for refused approvers. */
export const refusals: Readonly<Record<Exclude<ApprovalRefusal, 'profile'>, string>> = {
  token: 'An API token cannot approve requests. Sign in to approve this one.',
  own: 'You made this request. Another person must approve it.',
  disabled: 'Your account is disabled or no longer exists.',
  suspended: 'Your account is suspended. Suspended accounts cannot approve requests.',
  requester: 'The requesting account is disabled, suspended or deleted. Its requests cannot be approved.',
  late: 'This request has expired.',
  new: 'Your account was created after this request. Someone with an older account must approve it.',
  recent:
    'Someone else set your password, second factor or sign-in settings in the last 24 hours, or a mailed link set your password. Another person must approve this.',
  related:
    'One person could act as both you and the requester, because they created one of these accounts or set its password. Someone else must approve this.',
}
