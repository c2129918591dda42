import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { withUploadedBytes } from '@portcullis/platform/server/http/uploaded-file.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import {
  activateWorker,
  addConnections,
  confirmHostKeys,
  connectionCauses,
  connectionDetailsStatus,
  createWorkerToken,
  deleteConnections,
  deleteWorker,
  listConnections,
  readConnectionTest,
  registerConnections,
  testConnection,
  unregisterConnections,
  updateConnection,
  updateWorkerDefaults,
  uploadConnections,
  workerPollerDetails,
} from '#features/contract.ts'
import { assertConnection, nameKey } from './connection.rules.ts'
import { connectionsList, createConnectionsRead, statusList } from './connections.read.ts'
import { createConnections } from './connections.service.ts'
import { createConnectionsStore } from './connections.store.ts'
import type { AgentlessContext } from './context.ts'
import { createPolls, pollOf } from './polls.service.ts'
import { createTests } from './tests.service.ts'
import { createUpload } from './upload.ts'
import { createWorker } from './worker.service.ts'

export { connectionsList, statusList } from './connections.read.ts'
export type { BegunPoll } from './polls.service.ts'
export { agentlessSealed } from './sealed-columns.ts'
export type { Poller } from './worker.service.ts'
export type AgentlessApi = ReturnType<typeof agentlessFeature>

/** Time for which a look at the worker keeps it running. */
const shownForMs = 300_000

/** Creates hosts without an agent: connections, the worker that polls them over SSH, and its results. */
export const agentlessFeature = (app: HttpApp, context: AgentlessContext & { ownWorkerToken: Secret | null }) => {
  const { db, clock, envelope } = context
  const store = createConnectionsStore()
  const read = createConnectionsRead(db)
  const worker = createWorker(context, context.ownWorkerToken)
  const connections = createConnections(context)
  const tests = createTests(context, async (tx, actor, input) => {
    assertConnection(input, 'body')
    const d = await worker.defaults(tx)
    const [row] = await store.byKeys(tx, [nameKey(input.computerName)])
    if (row === undefined) return pollOf(envelope, connections.fresh(actor, input), d)
    const next = connections.changed(actor, row, input, row.computer_name)
    connections.assertSecretsMayStay(row, next, input, 'body')
    return pollOf(envelope, next, d)
  })
  const polls = createPolls(context, worker, tests)
  const upload = createUpload(context, connections)
  const list = createList(connectionsList, context)
  const status = createList(statusList, context)

  app.register(listConnections, ({ query }) => list.page(query))
  app.register(addConnections, ({ actor, body }) => connections.add(actor, body))
  app.register(confirmHostKeys, ({ actor, body }) => connections.confirmKeys(actor, body))
  app.register(updateConnection, ({ actor, body }) => connections.change(actor, body))
  app.register(deleteConnections, ({ actor, query, body }) => {
    const named = (query.computerName ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
    if ((query.computerName === undefined) === (body === null))
      throw invalid('query.computerName', 'must name connections either here or in the body')
    return connections.remove(actor, body ?? named)
  })
  app.register(registerConnections, ({ actor, body }) => connections.register(actor, body.computerNames ?? [], true))
  app.register(unregisterConnections, ({ actor, body }) => connections.register(actor, body.computerNames ?? [], false))
  app.register(connectionDetailsStatus, ({ query }) => status.page(query))
  app.register(connectionCauses, () => read.causes())
  app.register(uploadConnections, ({ actor, query, request }) =>
    withUploadedBytes(
      request,
      (bytes) => upload(actor, bytes, { dryRun: query.dryRun === true, reason: query.reason?.trim() ?? '' }),
      {
        added: 0,
        updated: 0,
        failed: 0,
        errors: [],
        lines: [],
        secondPerson: false,
      },
    ),
  )
  let shownAt = Number.NEGATIVE_INFINITY
  app.register(workerPollerDetails, () => {
    shownAt = clock.now()
    return worker.details()
  })
  app.register(updateWorkerDefaults, ({ actor, body }) => worker.saveDefaults(actor, body))
  app.register(activateWorker, ({ actor, body }) => worker.activate(actor, body.id, body.isActivated))
  app.register(deleteWorker, ({ actor }) => worker.remove(actor))
  app.register(createWorkerToken, ({ actor }) => worker.createToken(actor))
  app.register(testConnection, ({ actor, body }) => tests.start(actor, body))
  app.register(readConnectionTest, ({ actor, params }) => tests.read(actor, params.id))
  return {
    /** For the routes of the worker only. */
    worker: { register: worker.register, poller: worker.poller },
    polls: { lease: polls.lease, begin: polls.begin, end: polls.end },
    health: worker.health,
    /**
     * Returns true if a worker process has, or may soon have, something to poll. A person who looks at the worker wants
     * to activate it before adding hosts.
     */
    needsWorker: async (): Promise<boolean> =>
      clock.now() - shownAt < shownForMs || (await store.any(db)) || (await tests.any()),
    maintain: async (): Promise<void> => {
      await polls.maintain()
      await worker.maintain()
    },
  }
}
