import { closed, listQuery, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** Number of lines of each change request that the list shows. */
export const listedRequestLines = 20
/** Maximum length of a line, so that every value is shown in full. */
export const maxRequestLine = 20_000

/** A change that waits for a second approver. */
export const ChangeRequest = closed({
  id: Type.String(),
  action: Type.Enum(['free', 'delete', 'settings', 'rules', 'account', 'update', 'package', 'windows'], {
    description:
      'Kind of change that needs a second approver. `free` and `delete`: frees or deletes hosts. `settings`: relaxes settings. `rules`: allows devices. `account`: changes an Administrator. `update`: updates agents. `package`: publishes a package. `windows`: imports the verification of a Windows build.',
  }),
  title: Type.String({ description: 'Summary of the change.' }),
  details: Type.Array(Type.String(), {
    maxItems: listedRequestLines,
    description: `The first ${listedRequestLines} lines of the change, widest effect first. GET policy/changerequests/{id}/details returns all of them. Empty if the title is complete, and after the request was decided.`,
  }),
  lines: Type.Integer({
    minimum: 0,
    description: 'Number of lines of the change. 0 if the title is complete, and after the request was decided.',
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

const digest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of the file of the request, in hexadecimal. It covers the title and every line.',
})

export const readChangeRequest = operation({
  id: 'readChangeRequest',
  method: 'GET',
  path: '/prime/webui/policy/changerequests/{id}/details',
  tag: 'Policy',
  summary: 'Returns the complete change of a waiting request, in pages',
  description:
    'Lists everything that an approval carries out, one part per line: rules, hosts, old and new values. The parts with the widest effect come first. Values are exact: invisible characters are shown as codes such as `%u200B`. Secrets are shown as “(changed)”.',
  permission: 'fleet:read',
  params: requestParams,
  query: closed({
    PageNumber: listQuery.PageNumber,
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 200, description: 'Lines per page.' })),
  }),
  response: closed({
    title: Type.String(),
    digest,
    recordsTotal: Type.Integer({ minimum: 0, description: 'Number of lines.' }),
    data: Type.Array(Type.String(), { maxItems: 1_000, description: 'The lines of this page.' }),
  }),
  errors: ['conflict'],
})

export const downloadChangeRequest = operation({
  id: 'downloadChangeRequest',
  method: 'GET',
  path: '/prime/webui/policy/changerequests/{id}/file',
  tag: 'Policy',
  summary: 'Downloads the complete change of a waiting request as a text file',
  description: 'The SHA-256 of the file is the `digest` that an approval needs.',
  permission: 'fleet:read',
  params: requestParams,
  response: Type.String(),
  responseKind: 'file',
  fileType: 'text/plain',
  errors: ['conflict'],
})

export const approveChangeRequest = operation({
  tag: 'Policy',
  permission: 'fleet:write',
  id: 'approveChangeRequest',
  method: 'POST',
  path: '/prime/webui/policy/changerequests/{id}/approve',
  summary: 'Approves a change request and carries it out',
  fresh: true,
  description:
    'The approval names the digest of what the approver read, from GET policy/changerequests/{id}/details or of the downloaded file. The requester and accounts created after the request cannot approve it. Only an Administrator can approve changes to settings and accounts, updates and packages. The change is applied completely or not at all. Hosts that were deleted since the request are skipped.',
  params: requestParams,
  body: closed({ digest }),
  response: ChangeRequest,
  errors: [
    'conflict',
    'change_differs',
    'forbidden_object',
    'policy_tests_failed',
    'package_not_newer',
    'knowledge_key_refused',
    'unprocessable',
    'windows_preview_off',
    'windows_limit_reached',
  ],
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
