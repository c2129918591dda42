import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  agentsConfiguration,
  deleteAgentsCommands,
  fetchAgentsDebugLogs,
  previewBulk,
  runBulk,
  updateAgents,
} from '#features/contract.ts'
import type { HostsContext } from '../context.ts'
import { createBulkRead } from './bulk.read.ts'
import { createBulk } from './bulk.service.ts'
import { createConfiguration } from './configuration.service.ts'
import { registerGated } from './gated.ts'
import { createOnIds } from './on-ids.service.ts'

export type BulkApi = ReturnType<typeof bulkFeature>

/** Creates orders to one or many hosts: modes, approvals, updates, logs, removal. */
export const bulkFeature = (app: HttpApp, context: HostsContext) => {
  const read = createBulkRead(context.db)
  const bulk = createBulk(context)
  const configuration = createConfiguration(context, bulk)
  const onIds = createOnIds(context)
  registerGated(context.changeRequests, {
    names: async (tx, uuids) =>
      new Map((await read.targets(tx, read.named(uuids))).map(({ agent_id, host }) => [agent_id, host])),
    latestPackage: context.builds.latestPackage,
    worksAgain: bulk.worksAgain,
    configuration: configuration.carryOut,
    bulk: (tx, actor, { action, uuids, hashtags, devices, reason }) =>
      bulk.enqueue(tx, actor, {
        action,
        applyToPresent: false,
        uuids: [...uuids],
        ...(hashtags === undefined ? {} : { hashtags: [...hashtags] }),
        ...(devices === undefined ? {} : { devices }),
        ...(reason === undefined ? {} : { reason }),
      }),
  })

  app.register(agentsConfiguration, ({ actor, body }) => configuration.configure(actor, body))
  app.register(deleteAgentsCommands, ({ actor, body }) => onIds.cancelCommands(actor, body ?? []))
  app.register(updateAgents, ({ actor, body }) => onIds.update(actor, body ?? []))
  app.register(fetchAgentsDebugLogs, ({ actor, body }) => onIds.collectLogs(actor, body ?? []))
  app.register(previewBulk, ({ actor, body }) => bulk.preview(actor, body))
  app.register(runBulk, ({ actor, body }) => bulk.run(actor, body))
  return { assertMayDelete: onIds.assertMayDelete }
}
