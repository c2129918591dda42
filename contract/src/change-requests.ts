import { type Static, Type } from 'typebox'
import { closed, nullable, operation, utcTime } from './operation.ts'

/** Maximum number of detail lines in a change request. */
export const maxRequestDetails = 200

/** A change that waits for a second approver. */
export const ChangeRequest = closed({
  id: Type.String(),
  action: Type.Enum(['free', 'delete', 'settings', 'rules', 'account', 'update', 'package', 'windows'], {
    description:
      'Kind of change that needs a second approver. `free` and `delete`: frees or deletes hosts. `settings`: relaxes settings. `rules`: allows devices. `account`: changes an Administrator. `update`: updates agents. `package`: publishes a package. `windows`: imports the verification of a Windows build.',
  }),
  title: Type.String({ description: 'Summary of the change.' }),
  details: Type.Array(Type.String(), {
    maxItems: maxRequestDetails,
    description: `Parts of the change, one per line: rules, names of hosts, old and new values. Secrets are shown as “(changed)”. If there are more than ${maxRequestDetails} lines, the last line gives the number of the omitted ones. Empty if the title is complete, and after the request was decided.`,
  }),
  hosts: Type.Integer({
    description:
      'Number of hosts that the change frees, deletes, updates or newly allows devices on. 0 for other changes.',
  }),
  requestedBy: Type.String(),
  requestedAt: utcTime('Time of the request.'),
  expiresAt: utcTime('Expiry of the request.'),
  state: Type.Enum(['Waiting', 'Approved', 'Rejected', 'Expired']),
  refusal: Type.String({
    description: 'Why the caller cannot approve the request. Empty if they can, and after the request was decided.',
  }),
  decidedBy: nullable(Type.String()),
  decidedAt: nullable(utcTime('Time of the decision.')),
})
export type ChangeRequest = Static<typeof ChangeRequest>

export const listChangeRequests = operation({
  id: 'listChangeRequests',
  method: 'GET',
  path: '/prime/webui/policy/changerequests',
  tag: 'Policy',
  summary: 'Lists change requests, newest first',
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
  summary: 'Approves a change request and carries it out',
  fresh: true,
  description:
    'The requester and accounts created after the request cannot approve it. Only an Administrator can approve changes to settings and accounts, updates and packages. The change is applied completely or not at all. Hosts that were deleted since the request are skipped.',
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
  summary: 'Rejects a change request or withdraws your own',
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
  summary: 'Requires a second approver again before the lift ends',
  description:
    'The command line of the server can lift the requirement for a limited time. Ending the lift is audited.',
  response: closed({ ended: Type.Boolean({ description: 'False: the requirement was not lifted.' }) }),
})
