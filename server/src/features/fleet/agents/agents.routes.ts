import {
  agentsClassificationSummary,
  createEnrollmentToken,
  deleteEnrollmentToken,
  getAgents,
  listEnrollmentTokens,
} from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { AgentsService } from './agents.service.ts'
import type { EnrollmentService } from './enrollment.service.ts'

export const registerAgentRoutes = (app: HttpApp, agents: AgentsService, enrollment: EnrollmentService): void => {
  app.register(getAgents, ({ query }) => agents.page(query))
  app.register(agentsClassificationSummary, ({ query }) => agents.summary(query))
  app.register(listEnrollmentTokens, async () => ({ data: await enrollment.list() }))
  app.register(createEnrollmentToken, ({ actor, body }) => enrollment.create(actor, body))
  app.register(deleteEnrollmentToken, ({ actor, params }) => enrollment.revoke(actor, params.id))
}
