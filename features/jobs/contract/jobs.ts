import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

export const jobStates = ['running', 'completed', 'failed', 'cancelled'] as const

/** Work that takes longer than a request. Clients follow its progress here. */
export const Job = closed({
  id: Type.String(),
  kind: Type.String({ description: '`commands`, `policy`, `knowledge`, …' }),
  title: Type.String(),
  state: Type.Enum(jobStates),
  total: Type.Integer({ description: 'Number of parts. 0 while unknown.' }),
  done: Type.Integer({ description: 'Number of completed parts.' }),
  failed: Type.Integer({ description: 'Number of parts that failed, expired or were cancelled.' }),
  message: Type.String(),
  createdBy: Type.String(),
  createdAt: utcTime('Start of the job.'),
  endedAt: nullable(utcTime('End of the job.')),
  canCancel: Type.Boolean({ description: 'Whether the job can be cancelled, with the permissions of the caller.' }),
})
export type Job = Static<typeof Job>

export const listJobs = operation({
  id: 'listJobs',
  method: 'GET',
  path: '/prime/webui/jobs',
  tag: 'Jobs',
  summary: 'Lists running jobs and jobs that ended in the last day, newest first',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(Job, { description: 'At most 200 jobs.' }) }),
})

const jobParams = closed({ id: Type.String({ minLength: 1, maxLength: 64 }) })

export const getJob = operation({
  id: 'getJob',
  method: 'GET',
  path: '/prime/webui/jobs/{id}',
  tag: 'Jobs',
  summary: 'Returns a job',
  permission: 'fleet:read',
  params: jobParams,
  response: Job,
})

export const cancelJob = operation({
  id: 'cancelJob',
  method: 'POST',
  path: '/prime/webui/jobs/{id}/cancel',
  tag: 'Jobs',
  summary: 'Cancels a job',
  description: 'Completed parts are not undone. To cancel a backup, the caller also needs `config:write`.',
  permission: 'fleet:write',
  fresh: 'it cancels a backup',
  params: jobParams,
  response: Job,
  errors: ['conflict'],
})
