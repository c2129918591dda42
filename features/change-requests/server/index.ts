import { FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import {
  approveChangeRequest,
  downloadChangeRequest,
  endApprovalLift,
  listChangeRequests,
  readChangeRequest,
  rejectChangeRequest,
} from '#features/contract.ts'
import { createChangeRequests, requestContext } from './change-requests.service.ts'
import type { ChangeRequestsContext } from './context.ts'
import { gateSignIn } from './sign-in-settings.ts'

export { NeedsApprover } from './change-requests.service.ts'
export { memberLines } from './shown-change.ts'

export const changeRequestsSealed: readonly SealedColumn[] = [
  { table: 'change_requests', key: 't.request_id::text', column: 'sealed', context: requestContext },
]

export type ChangeRequestsApi = ReturnType<typeof changeRequestsFeature>

/**
 * Requires a second approver. A capability registers each kind of change with `handle` and asks whether one person may
 * make it. If not, it files the change with `require`. The change is carried out when another person approves it.
 */
export const changeRequestsFeature = (app: HttpApp, context: ChangeRequestsContext) => {
  const changeRequests = createChangeRequests(context)
  gateSignIn(context.settings, changeRequests)
  app.register(listChangeRequests, ({ actor }) => changeRequests.list(actor))
  app.register(approveChangeRequest, ({ actor, params, body }) => changeRequests.approve(actor, params.id, body.digest))
  app.register(readChangeRequest, ({ params, query }) =>
    changeRequests.read(params.id, { number: query.PageNumber ?? 1, size: query.PageSize ?? 200 }),
  )
  app.register(
    downloadChangeRequest,
    async ({ params }) =>
      new FileAnswer(`change-request-${params.id}.txt`, 'text/plain', await changeRequests.file(params.id)),
  )
  app.register(rejectChangeRequest, ({ actor, params }) => changeRequests.reject(actor, params.id))
  app.register(endApprovalLift, ({ actor }) => changeRequests.endLift(actor))
  return changeRequests
}
