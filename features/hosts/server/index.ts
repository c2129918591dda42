import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { decideDuplicate, deleteAgents, getAgent } from '#features/contract.ts'
import type { BulkApi } from './bulk/index.ts'
import type { HostsContext } from './context.ts'
import { createHostDetail } from './host-detail.ts'
import { timelineFeature } from './timeline/index.ts'

/** Creates the host page from all capabilities that know the host, and its removal by a person. */
export const hostsFeature = (app: HttpApp, context: HostsContext & { bulk: BulkApi }): void => {
  const detail = createHostDetail(context)
  timelineFeature(app, context)
  app.register(getAgent, ({ params }) => detail(params.agentId))
  app.register(deleteAgents, async ({ actor, body }) => {
    await context.bulk.assertMayDelete(actor, body ?? [])
    return context.agents.remove(actor, body ?? [])
  })
  app.register(decideDuplicate, async ({ actor, params, body }) => {
    if (body.isSameMachine) await context.bulk.assertMayDelete(actor, [body.uuid])
    return context.agents.decideDuplicate(actor, params.agentId, body)
  })
}
