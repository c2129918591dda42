/** Containment: one Administrator suspends the credentials of another account for a day. */
import { Type } from 'typebox'
import { AccountView } from './accounts.ts'
import { closed, operation } from './operation.ts'

const body = closed({
  userName: Type.String({ minLength: 1, maxLength: 254, description: 'Account, in any case.' }),
})

export const suspendAccount = operation({
  id: 'suspendAccount',
  method: 'POST',
  path: '/prime/webui/admin/suspendaccount',
  tag: 'Admin',
  summary: "Suspends another account's sessions, API tokens and approvals for 24 hours",
  description:
    'Needs no second approver, whatever the profile of the account. Its sessions end; its API tokens are refused on every replica; it cannot sign in or approve. After 24 hours the tokens work again and it may sign in. The account stays what it is: an Administrator still counts for the second approver, so suspending one lifts no gate. Suspending a suspended account starts the 24 hours again. You cannot suspend your own account. Another Administrator lifts the suspension with `liftsuspension`, and so does `portcullis admin lift-suspension` on the server.',
  permission: 'config:write',
  fresh: true,
  body,
  response: AccountView,
  errors: ['not_found', 'forbidden_object'],
  examples: { request: { userName: 'ada' } },
})

export const liftSuspension = operation({
  id: 'liftSuspension',
  method: 'POST',
  path: '/prime/webui/admin/liftsuspension',
  tag: 'Admin',
  summary: 'Lifts the suspension of another account',
  description: 'Its API tokens work again and it may sign in. Sessions that ended do not come back.',
  permission: 'config:write',
  fresh: true,
  body,
  response: AccountView,
  errors: ['not_found', 'forbidden_object'],
  examples: { request: { userName: 'ada' } },
})
