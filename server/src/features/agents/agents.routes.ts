import {
  agentsClassificationSummary,
  createEnrollmentToken,
  deleteAgents,
  deleteEnrollmentToken,
  getAgent,
  getAgents,
  listEnrollmentTokens,
} from '@portcullis/contract'
import type { Actor } from '#platform/http/actor.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { AgentsService } from './agents.service.ts'
import type { EnrollmentService } from './enrollment.service.ts'

export const registerAgentRoutes = (
  app: HttpApp,
  agents: AgentsService,
  enrollment: EnrollmentService,
  assertMayDelete: (actor: Actor, uuids: readonly string[]) => Promise<void>,
): void => {
  app.register(getAgents, ({ query }) => agents.page(query))
  app.register(getAgent, ({ params }) => agents.detail(params.agentId))
  app.register(agentsClassificationSummary, ({ query }) => agents.summary(query))
  app.register(deleteAgents, async ({ actor, body }) => {
    await assertMayDelete(actor, body ?? [])
    return agents.remove(actor, body ?? [])
  })
  app.register(listEnrollmentTokens, async () => ({ data: await enrollment.list() }))
  app.register(createEnrollmentToken, ({ actor, body }) => enrollment.create(actor, body))
  app.register(deleteEnrollmentToken, ({ actor, params }) => enrollment.revoke(actor, params.id))
}
