import { decideDuplicate, deleteAgents, getAgent } from '@portcullis/contract'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { ActionsApi } from './bulk/index.ts'
import { createHostDetail, type HostDetailDeps } from './host-detail.ts'

export interface HostsDeps extends HostDetailDeps {
  agents: Pick<AgentsApi, 'one' | 'remove' | 'decideDuplicate'>
  actions: Pick<ActionsApi, 'assertMayDelete'>
}

/** Creates the host page from all features that know the host, and its removal by a person. */
export const hostsFeature = (app: HttpApp, deps: HostsDeps): void => {
  const detail = createHostDetail(deps)
  app.register(getAgent, ({ params }) => detail(params.agentId))
  app.register(deleteAgents, async ({ actor, body }) => {
    await deps.actions.assertMayDelete(actor, body ?? [])
    return deps.agents.remove(actor, body ?? [])
  })
  app.register(decideDuplicate, async ({ actor, params, body }) => {
    if (body.isSameMachine) await deps.actions.assertMayDelete(actor, [body.uuid])
    return deps.agents.decideDuplicate(actor, params.agentId, body)
  })
}
