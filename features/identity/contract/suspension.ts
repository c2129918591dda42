/** Suspension of an account by an Administrator for 24 hours. */

import { closed, operation } from '@portcullis/platform/contract/operation.ts'
import { Type } from 'typebox'
import { AccountView } from './accounts.ts'

const body = closed({
  userName: Type.String({ minLength: 1, maxLength: 254, description: 'User name, ignoring case.' }),
})

export const suspendAccount = operation({
  id: 'suspendAccount',
  method: 'POST',
  path: '/prime/webui/admin/suspendaccount',
  tag: 'Admin',
  summary: "Suspends another account's sessions, API tokens and approvals for 24 hours",
  description:
    'Never needs a second approver. The sessions of the account end, all replicas refuse its API tokens, and it cannot sign in or approve. After 24 hours, its tokens work again and it can sign in. The account keeps its profile, so suspending an Administrator does not remove the need for a second approver. Suspending the account again restarts the 24 hours. You cannot suspend your own account. To lift a suspension, another Administrator calls `liftsuspension`, or the operator of the server runs `portcullis admin lift-suspension`.',
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
  description: 'The API tokens of the account work again, and it can sign in. Ended sessions are not restored.',
  permission: 'config:write',
  fresh: true,
  body,
  response: AccountView,
  errors: ['not_found', 'forbidden_object'],
  examples: { request: { userName: 'ada' } },
})
