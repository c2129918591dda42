import { type Static, Type } from 'typebox'
import { closed, nullable, operation, utcTime } from './operation.ts'

/** Something that waits for a second person. */
export const ChangeRequest = closed({
  id: Type.String(),
  action: Type.Enum(['free', 'delete', 'settings'], {
    description: 'What makes it need a second person; `settings`: a second person would be asked less often.',
  }),
  title: Type.String({ description: 'All that it would do, in words.' }),
  hosts: Type.Integer({ description: 'Hosts that would be freed or deleted; 0 for settings.' }),
  requestedBy: Type.String(),
  requestedAt: utcTime('When it was asked for.'),
  expiresAt: utcTime('Until when it can be approved.'),
  state: Type.Enum(['Waiting', 'Approved', 'Rejected', 'Expired']),
  decidedBy: nullable(Type.String()),
  decidedAt: nullable(utcTime('When it was decided.')),
})
export type ChangeRequest = Static<typeof ChangeRequest>

export const listChangeRequests = operation({
  id: 'listChangeRequests',
  method: 'GET',
  path: '/prime/webui/policy/changerequests',
  tag: 'Policy',
  summary: 'Lists requests that need a second person, newest first',
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
  description:
    'Not by who asked, nor by an account made after that; settings by an Administrator. All or nothing, as of now: hosts that are gone meanwhile are left out.',
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
  summary: 'Rejects a request, or takes an own one back',
  params: requestParams,
  response: ChangeRequest,
  errors: ['conflict'],
})
