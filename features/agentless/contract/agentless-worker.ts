import { PollStepResult, pollFailures, pollPlatforms, pollSteps } from '@portcullis/contract/worker-protocol.ts'
import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, type TSchema, Type } from 'typebox'
import { ConnectionInput } from './agentless.ts'
import { credentials, intervalMinutes, platform, port } from './connection-fields.ts'

const base = '/prime/webui/agents/agentless'
const tag = 'Agents'

const orNull = <T extends TSchema>(schema: T) => nullable(schema)

/** The worker and its processes. Before the first worker registers, all fields except `defaults` are `null`. */
export const WorkerPollerDetails = closed({
  id: orNull(Type.String()),
  name: orNull(Type.String()),
  ipAddress: orNull(Type.String()),
  version: orNull(Type.String()),
  status: orNull(Type.Enum(['Connected', 'Disconnected'])),
  adminStatus: orNull(Type.Enum(['Pending', 'Activated', 'Deactivated'])),
  numOfPollers: orNull(Type.Integer({ minimum: 0, description: 'Number of registered worker processes.' })),
  numOfPollersAlive: orNull(
    Type.Integer({ minimum: 0, description: 'Number of these processes that were seen in the last 30 seconds.' }),
  ),
  cpu: orNull(Type.Number({ description: 'CPU use of all processes, in percent of one core.' })),
  utilization: orNull(Type.Number({ description: 'Running polls, in percent of the capacity.' })),
  errorCount: orNull(Type.Integer({ description: 'Number of connections whose last poll failed.' })),
  lastSeen: orNull(utcTime('Time at which a process was last seen.')),
  defaults: closed({
    port,
    platform,
    userName: Type.String(),
    hasPassword: Type.Boolean(),
    hasPrivateKey: Type.Boolean(),
    hasPassphrase: Type.Boolean(),
    intervalMinutes,
  }),
  pollers: Type.Array(
    closed({
      id: Type.String(),
      name: Type.String(),
      ipAddress: Type.String(),
      version: Type.String(),
      isAlive: Type.Boolean(),
      running: Type.Integer({ minimum: 0 }),
      capacity: Type.Integer({ minimum: 0 }),
      cpu: Type.Number(),
      lastSeen: utcTime('Time at which the process was last seen.'),
      isActivated: Type.Boolean({
        description:
          'True if the process may poll while the worker is activated. A process that registers later waits until an Administrator activates the worker again.',
      }),
    }),
  ),
  due: Type.Integer({
    minimum: 0,
    description: 'Number of registered connections that are due and wait for a worker.',
  }),
})
export type WorkerPollerDetails = Static<typeof WorkerPollerDetails>

export const workerPollerDetails = operation({
  id: 'workerPollerDetails',
  method: 'GET',
  path: `${base}/workerpollerdetails`,
  tag,
  summary: 'Returns the status of the worker and its processes',
  description:
    'The server starts its own worker at the first call of this operation, or when the first connection exists. The worker registers a few seconds later. Until then, its fields are `null`. Then activate it by its `id`.',
  permission: 'fleet:read',
  response: WorkerPollerDetails,
})

export const updateWorkerDefaults = operation({
  id: 'updateWorkerDefaults',
  method: 'PUT',
  path: `${base}/workerpollerdetails`,
  tag,
  summary: 'Changes the default credentials and settings of connections',
  description:
    'Absent or `null` fields keep their values. Connections that do not override the defaults use the new ones from their next poll.',
  permission: 'config:write',
  body: closed({
    defaults: closed({
      port: Type.Optional(nullable(port)),
      platform: Type.Optional(nullable(platform)),
      ...credentials,
      intervalMinutes: Type.Optional(nullable(intervalMinutes)),
    }),
  }),
  response: WorkerPollerDetails,
})

export const activateWorker = operation({
  id: 'activateWorker',
  method: 'PUT',
  path: `${base}/workerpollerdetails/activatedstatus`,
  tag,
  summary: 'Activates or deactivates the worker',
  fresh: 'it activates the worker',
  description:
    'Activation allows all registered processes to poll and gives them the credentials of agentless hosts. It needs a second approver once two Administrators have existed. Processes that register later wait for the next activation. Deactivation cancels running polls and keeps the connections.',
  permission: 'config:write',
  body: closed({ id: Type.String({ maxLength: 64 }), isActivated: Type.Boolean() }),
  response: WorkerPollerDetails,
  errors: ['not_found', 'second_person_required'],
})

export const deleteWorker = operation({
  id: 'deleteWorker',
  method: 'DELETE',
  path: `${base}/workerpollerdetails`,
  tag,
  summary: 'Deletes the worker and revokes its keys',
  description:
    'Running polls are cancelled, and connections are kept. The server’s own worker registers again within a minute of the next need for it, and waits for activation. Other workers need a new token.',
  permission: 'config:write',
  response: closed({ deleted: Type.Boolean({ description: 'False: there was no worker.' }) }),
})

export const createWorkerToken = operation({
  id: 'createWorkerToken',
  method: 'POST',
  path: `${base}/workerpollerdetails/token`,
  tag,
  summary: 'Creates a token for another worker process',
  fresh: true,
  description:
    'The token is returned only once and registers one process within an hour. The process polls after an Administrator activates the worker again.',
  permission: 'config:write',
  response: closed({
    token: Type.String(),
    expiresAt: utcTime('Expiry of the token.'),
    command: Type.String({ description: 'Command to run on the machine of the worker.' }),
  }),
})

/** Progress and result of a connection test. */
export const ConnectionTest = closed({
  id: Type.String(),
  state: Type.Enum(['waiting', 'running', 'done'], { description: '`waiting`: no worker has taken the test yet.' }),
  ok: nullable(Type.Boolean(), { description: '`null` until the test is done.' }),
  cause: nullable(Type.Enum(pollFailures)),
  message: Type.String(),
  cure: Type.String({ description: 'How to fix the problem. Empty: none.' }),
  step: nullable(Type.Enum(pollSteps), { description: 'The current step. `null` before and after the test.' }),
  steps: Type.Array(PollStepResult, { description: 'The completed steps, in order.' }),
  hostKeyFingerprint: nullable(Type.String()),
  platform: nullable(Type.Enum(pollPlatforms)),
  hostname: Type.String({ description: 'Name that the host reports. Empty until it is known.' }),
  devices: Type.Array(
    closed({ vid: Type.String(), pid: Type.String(), name: Type.String(), serialNumber: Type.String() }),
    { description: 'The first 50 devices.' },
  ),
  peripheralsCount: Type.Integer({ minimum: 0 }),
})
export type ConnectionTest = Static<typeof ConnectionTest>

export const testConnection = operation({
  id: 'testConnection',
  method: 'POST',
  path: `${base}/connectiondetails/test`,
  tag,
  summary: 'Starts a connection test',
  description:
    'Tests the stored connection, with the fields of the request in place of the stored ones. A connection with this name does not need to exist. If you change the name, port or host key, send the secrets again. The test does not change the fleet. You can read its result by ID for five minutes.',
  permission: 'fleet:write',
  body: ConnectionInput,
  response: ConnectionTest,
  errors: ['conflict'],
})

export const readConnectionTest = operation({
  id: 'readConnectionTest',
  method: 'GET',
  path: `${base}/connectiondetails/test/{id}`,
  tag,
  summary: 'Returns the progress or result of a connection test',
  permission: 'fleet:write',
  params: closed({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: ConnectionTest,
  errors: ['not_found'],
})
