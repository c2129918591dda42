import { approveChangeRequest, endApprovalLift, listChangeRequests, rejectChangeRequest } from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Keys } from '#platform/keys.ts'
import type { SealedColumn } from '#platform/sealed-column.ts'
import { type ApprovalsDeps, createApprovals, requestContext } from './approvals.service.ts'
import { createApprovalsStore } from './approvals.store.ts'

export { NeedsApprover } from './approvals.service.ts'

/** Where this feature keeps sealed secrets. */
export const approvalsSealed: readonly SealedColumn[] = [
  { table: 'change_requests', key: 't.request_id::text', column: 'sealed', place: requestContext },
]

export type ApprovalsApi = ReturnType<typeof approvalsFeature>

/**
 * The second approver. A feature registers each kind of change with `handle` and asks whether one person may make it. If
 * not, it files the change with `require`, and the change is carried out when another person approves it.
 */
export const approvalsFeature = (
  app: HttpApp,
  { keys, ...deps }: Omit<ApprovalsDeps, 'store' | 'sealKey'> & { keys: Pick<Keys, 'derive'> },
) => {
  const approvals = createApprovals({
    ...deps,
    store: createApprovalsStore(deps.db),
    sealKey: keys.derive('change-requests'),
  })
  app.register(listChangeRequests, ({ actor }) => approvals.list(actor))
  app.register(approveChangeRequest, ({ actor, params }) => approvals.approve(actor, params.id))
  app.register(rejectChangeRequest, ({ actor, params }) => approvals.reject(actor, params.id))
  app.register(endApprovalLift, ({ actor }) => approvals.endLift(actor))
  return {
    handle: approvals.handle,
    isLatched: approvals.isLatched,
    mayAlone: approvals.mayAlone,
    release: approvals.release,
    takeAllowed: approvals.takeAllowed,
    noteInfluence: approvals.noteInfluence,
    noteSignInChange: approvals.noteSignInChange,
    linkHold: approvals.linkHold,
    require: approvals.require,
    lift: approvals.lift,
    liftedUntil: approvals.liftedUntil,
    maintain: approvals.maintain,
  }
}
