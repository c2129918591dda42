import { FileAnswer, WithHeaders } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  agentsClassificationSummary,
  createEnrollmentToken,
  createWindowsInstaller,
  deleteEnrollmentToken,
  getAgents,
  listEnrollmentTokens,
  updateHostOwner,
} from '#features/contract.ts'
import type { AgentsService } from './agents.service.ts'
import type { EnrollmentService } from './enrollment.service.ts'

export const registerAgentRoutes = (app: HttpApp, agents: AgentsService, enrollment: EnrollmentService): void => {
  app.register(getAgents, ({ query }) => agents.page(query))
  app.register(agentsClassificationSummary, ({ query }) => agents.summary(query))
  app.register(updateHostOwner, ({ actor, params, body }) => agents.setOwner(actor, params.agentId, body))
  app.register(listEnrollmentTokens, async () => ({ data: await enrollment.list() }))
  app.register(createEnrollmentToken, ({ actor, body }) => enrollment.create(actor, body))
  app.register(createWindowsInstaller, async ({ actor, params, body }) => {
    const { name, size, stream } = await enrollment.createInstaller(actor, params.id, body.token)
    return new WithHeaders(new FileAnswer(name, 'application/x-msi', stream), {
      'content-length': String(size),
    }) as never
  })
  app.register(deleteEnrollmentToken, ({ actor, params }) => enrollment.revoke(actor, params.id))
}
