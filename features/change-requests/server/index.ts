import {
  approveChangeRequest,
  downloadChangeRequest,
  endApprovalLift,
  listChangeRequests,
  readChangeRequest,
  rejectChangeRequest,
} from '@portcullis/contract'
import { FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Keys } from '@portcullis/platform/server/keys.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import { type ApprovalsDeps, createApprovals, requestContext } from './approvals.service.ts'
import { createApprovalsStore } from './approvals.store.ts'
import { gateSignIn, type SignInSettings } from './sign-in-settings.ts'

export { NeedsApprover } from './approvals.service.ts'
export { memberLines } from './shown-change.ts'

/** Sealed secrets in the tables of this feature. */
export const approvalsSealed: readonly SealedColumn[] = [
  { table: 'change_requests', key: 't.request_id::text', column: 'sealed', context: requestContext },
]

export type ApprovalsApi = ReturnType<typeof approvalsFeature>

/**
 * Requires a second approver. A feature registers each kind of change with `handle` and asks whether one person may
 * make it. If not, it files the change with `require`. The change is carried out when another person approves it.
 */
export const approvalsFeature = (
  app: HttpApp,
  {
    keys,
    settings,
    ...deps
  }: Omit<ApprovalsDeps, 'store' | 'sealKey' | 'limit'> & {
    keys: Pick<Keys, 'derive'>
    settings: Pick<SettingsApi, 'values'> & SignInSettings
  },
) => {
  const approvals = createApprovals({
    ...deps,
    store: createApprovalsStore(deps.db),
    sealKey: keys.derive('change-requests'),
    limit: async () => {
      const hosts = (await settings.values(deps.db, 'vendorA')).number('VENDORA_TWO_PERSON_LIMIT')
      return hosts === 0 ? null : hosts
    },
  })
  gateSignIn(settings, approvals)
  app.register(listChangeRequests, ({ actor }) => approvals.list(actor))
  app.register(approveChangeRequest, ({ actor, params, body }) => approvals.approve(actor, params.id, body.digest))
  app.register(readChangeRequest, ({ params, query }) =>
    approvals.read(params.id, { number: query.PageNumber ?? 1, size: query.PageSize ?? 200 }),
  )
  app.register(
    downloadChangeRequest,
    async ({ params }) =>
      new FileAnswer(`change-request-${params.id}.txt`, 'text/plain', await approvals.file(params.id)),
  )
  app.register(rejectChangeRequest, ({ actor, params }) => approvals.reject(actor, params.id))
  app.register(endApprovalLift, ({ actor }) => approvals.endLift(actor))
  return {
    handle: approvals.handle,
    kinds: approvals.kinds,
    isLatched: approvals.isLatched,
    mayAlone: approvals.mayAlone,
    release: approvals.release,
    takeAllowed: approvals.takeAllowed,
    noteInfluence: approvals.noteInfluence,
    linkHold: approvals.linkHold,
    require: approvals.require,
    lift: approvals.lift,
    liftedUntil: approvals.liftedUntil,
    maintain: approvals.maintain,
  }
}
