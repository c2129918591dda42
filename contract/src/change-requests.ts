import { type Static, Type } from 'typebox'
import { closed, nullable, operation, utcTime } from './operation.ts'

/** Lines of details of one request. */
export const maxRequestDetails = 200

/** A change that waits for a second approver. */
export const ChangeRequest = closed({
  id: Type.String(),
  action: Type.Enum(['free', 'delete', 'settings', 'rules', 'account', 'update', 'package'], {
    description:
      'Why it needs a second approver: it frees or deletes hosts, relaxes settings, allows devices by `rules`, changes an Administrator (`account`), updates agents, or publishes a package.',
  }),
  title: Type.String({ description: 'Description of the change. `details` completes it.' }),
  details: Type.Array(Type.String(), {
    maxItems: maxRequestDetails,
    description: `Every part of the change, one per line: rules, names of hosts, old and new values. Secrets are shown as “(changed)”. After ${maxRequestDetails - 1} lines, the last one counts the rest. Empty when the title says everything, and once the request is no longer waiting.`,
  }),
  hosts: Type.Integer({
    description: 'Number of hosts that it frees, deletes, updates or allows devices on; 0 for other changes.',
  }),
  requestedBy: Type.String(),
  requestedAt: utcTime('When it was requested.'),
  expiresAt: utcTime('Until when it can be approved.'),
  state: Type.Enum(['Waiting', 'Approved', 'Rejected', 'Expired']),
  refusal: Type.String({
    description: 'Why the caller cannot approve it; empty when they can, and once it is no longer waiting.',
  }),
  decidedBy: nullable(Type.String()),
  decidedAt: nullable(utcTime('When it was decided.')),
})
export type ChangeRequest = Static<typeof ChangeRequest>

export const listChangeRequests = operation({
  id: 'listChangeRequests',
  method: 'GET',
  path: '/prime/webui/policy/changerequests',
  tag: 'Policy',
  summary: 'Lists requests that need a second approver, newest first',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(ChangeRequest) }),
})

const requestParams = closed({ id: Type.String({ minLength: 1, maxLength: 64 }) })

export const approveChangeRequest = operation({
  tag: 'Policy',
  permission: 'fleet:write',
  id: 'approveChangeRequest',
  method: 'POST',
  path: '/prime/webui/policy/changerequests/{id}/approve',
  summary: 'Approves a request; it is carried out at once',
  fresh: true,
  description:
    'Neither the requester nor an account created after the request can approve it. Only an Administrator can approve changes to settings and accounts, updates and packages. The change is applied completely or not at all. Hosts deleted since the request are skipped.',
  params: requestParams,
  response: ChangeRequest,
  errors: ['conflict', 'forbidden_object'],
})

export const rejectChangeRequest = operation({
  tag: 'Policy',
  permission: 'fleet:write',
  id: 'rejectChangeRequest',
  method: 'POST',
  path: '/prime/webui/policy/changerequests/{id}/reject',
  summary: 'Rejects a request, or withdraws your own',
  fresh: true,
  description: 'Only the requester and accounts that may approve the request can reject it.',
  params: requestParams,
  response: ChangeRequest,
  errors: ['conflict', 'forbidden_object'],
})

export const endApprovalLift = operation({
  tag: 'Policy',
  permission: 'config:write',
  id: 'endApprovalLift',
  method: 'POST',
  path: '/prime/webui/policy/secondapprover/restore',
  summary: 'Requires a second approver again before a lift ends',
  description: 'The command line of the server lifts the second approver for a limited time. Audited.',
  response: closed({ ended: Type.Boolean({ description: 'False: the second approver was not lifted.' }) }),
})
