import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { KnowledgeContext } from './context.ts'
import { registerKnowledgeRoutes } from './knowledge.routes.ts'
import { createKnowledgeService } from './knowledge.service.ts'

export { loadKnowledge } from './files.ts'
export { evaluationJob } from './knowledge.service.ts'

export type KnowledgeApi = Awaited<ReturnType<typeof knowledgeFeature>>

/** Creates the knowledge of USB devices: the files of the release, and signed sets uploaded at run time. */
export const knowledgeFeature = async (app: HttpApp, context: KnowledgeContext) => {
  const service = await createKnowledgeService(context)
  registerKnowledgeRoutes(app, service)
  return service
}
