import {
  agentsConfiguration,
  deleteAgentsCommands,
  fetchAgentsDebugLogs,
  previewBulk,
  runBulk,
  updateAgents,
} from '@portcullis/contract'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import { createActionsRead } from './actions.read.ts'
import { type BulkDeps, createBulk } from './bulk.service.ts'
import { type ConfigurationDeps, createConfiguration } from './configuration.service.ts'
import { registerGated } from './gated.ts'
import { createOnIds, type OnIdsDeps } from './on-ids.service.ts'

type Given = Omit<BulkDeps & ConfigurationDeps & OnIdsDeps, 'read' | 'changeRequests' | 'enqueue'> & {
  changeRequests: ChangeRequestsApi
}

export type ActionsApi = ReturnType<typeof actionsFeature>

/** Creates orders to one or many hosts: modes, approvals, updates, logs, removal. */
export const actionsFeature = (app: HttpApp, given: Given) => {
  const deps = { ...given, read: createActionsRead(given.db) }
  const bulk = createBulk(deps)
  const configuration = createConfiguration({ ...deps, enqueue: bulk.enqueue })
  const onIds = createOnIds(deps)
  registerGated(given.changeRequests, {
    names: async (tx, uuids) =>
      new Map((await deps.read.targets(tx, deps.read.named(uuids))).map(({ agent_id, host }) => [agent_id, host])),
    latestPackage: deps.latestPackage,
    worksAgain: bulk.worksAgain,
    configuration: configuration.carryOut,
    bulk: (tx, actor, { action, uuids, hashtags, devices }) =>
      bulk.enqueue(tx, actor, {
        action,
        applyToPresent: false,
        uuids: [...uuids],
        ...(hashtags === undefined ? {} : { hashtags: [...hashtags] }),
        ...(devices === undefined ? {} : { devices }),
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
