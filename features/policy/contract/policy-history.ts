import {
  closed,
  listQuery,
  nullable,
  operation,
  page,
  utcTime,
  WorksAgain,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { newlyAllowed, reasonGiven } from '#features/change-requests/contract/newly-allowed.ts'
import { PolicyRuleResource } from './policy.ts'
import { Prediction } from './prediction.ts'

const common = { tag: 'Policy', permission: 'fleet:write' } as const

/** One version of the policy with its changes. */
export const PolicyVersion = closed({
  version: Type.Integer({ minimum: 1 }),
  createdAt: utcTime('Time from which this version applies.'),
  createdBy: Type.String(),
  summary: Type.String({ description: 'The change as text.' }),
  changes: Type.Array(
    closed({
      before: nullable(PolicyRuleResource, { description: '`null`: the rule was added.' }),
      after: nullable(PolicyRuleResource, { description: '`null`: the rule was deleted.' }),
    }),
    { description: 'At most 100 changes. `changesTotal` counts all.' },
  ),
  changesTotal: Type.Integer(),
})
export type PolicyVersion = Static<typeof PolicyVersion>

export const policyHistory = operation({
  id: 'policyHistory',
  method: 'GET',
  path: '/prime/webui/policy/history',
  tag: 'Policy',
  summary: 'Lists versions of the policy, newest first',
  permission: 'fleet:read',
  query: closed({
    PageNumber: listQuery.PageNumber,
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 50 })),
  }),
  response: page(PolicyVersion),
})

/** The result of restoring or undoing a version. */
const PolicyReturn = closed({
  version: Type.Integer({ description: 'Version of the policy after this call.' }),
  added: Type.Integer(),
  changed: Type.Integer(),
  deleted: Type.Integer(),
  jobId: nullable(Type.String()),
  worksAgain: nullable(WorksAgain, {
    description: 'With `dryRun`: blocked devices that would work again. Otherwise `null`.',
  }),
  newlyAllowed: newlyAllowed(
    'With `dryRun`: number of hosts on which the change newly allows devices, even if none has been seen.',
  ),
  prediction: Type.Optional(Prediction),
})

export const restorePolicy = operation({
  ...common,
  fresh: 'a restored rule allows an attack tool',
  id: 'restorePolicy',
  method: 'POST',
  path: '/prime/webui/policy/restore',
  summary: 'Restores the rules of an earlier version',
  description:
    'To undo a single change, use `undoPolicyVersion`. With `dryRun`, the response shows the result and nothing is changed.',
  body: closed({
    version: Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'Version to restore. 0: no rules.',
    }),
    dryRun: Type.Optional(Type.Boolean({ default: false })),
    reason: reasonGiven,
  }),
  errors: [
    'not_found',
    'conflict',
    'forbidden_object',
    'named_hosts_required',
    'policy_tests_failed',
    'second_person_required',
  ],
  response: PolicyReturn,
})

export const undoPolicyVersion = operation({
  ...common,
  fresh: 'a restored rule allows an attack tool',
  id: 'undoPolicyVersion',
  method: 'POST',
  path: '/prime/webui/policy/history/{version}/undo',
  summary: 'Undoes the changes of one version',
  description:
    'Restores the rules that this version changed, as a new version. All other changes are kept. If one of these rules has changed since, the server returns 409 and changes nothing. An undo that newly allows devices on more hosts than the limit needs a second approver. With `dryRun`, the response shows the result and nothing is changed.',
  params: closed({
    version: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Version to undo.' }),
  }),
  body: closed({
    dryRun: Type.Optional(Type.Boolean({ default: false })),
    reason: reasonGiven,
  }),
  errors: [
    'not_found',
    'conflict',
    'forbidden_object',
    'named_hosts_required',
    'policy_tests_failed',
    'second_person_required',
  ],
  response: PolicyReturn,
})

export const undoPolicyJob = operation({
  ...common,
  id: 'undoPolicyJob',
  method: 'POST',
  path: '/prime/webui/policy/jobs/{id}/undo',
  summary: 'Undoes the changes of a bulk approval',
  description:
    'Restores the rules that the job changed, as one new version. All other changes are kept. If the job is still running or changed no rules, or one of these rules has changed since, the server returns 409 and changes nothing. An undo that newly allows devices on more hosts than the limit needs a second approver. With `dryRun`, the response shows the result and nothing is changed.',
  params: closed({ id: Type.String({ maxLength: 64, description: 'ID of the job that `runBulk` returned.' }) }),
  body: closed({
    dryRun: Type.Optional(Type.Boolean({ default: false })),
    reason: reasonGiven,
  }),
  errors: [
    'not_found',
    'conflict',
    'forbidden_object',
    'named_hosts_required',
    'policy_tests_failed',
    'second_person_required',
  ],
  response: PolicyReturn,
})
