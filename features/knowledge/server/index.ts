import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { KnowledgeContext } from './context.ts'
import { registerKnowledgeRoutes } from './knowledge.routes.ts'
import { createKnowledgeSeals } from './knowledge.seal.ts'
import { createKnowledgeService, type KnowledgeDeps } from './knowledge.service.ts'

export { loadKnowledge } from './knowledge.files.ts'
export { evaluationJob } from './knowledge.service.ts'

export type KnowledgeApi = Awaited<ReturnType<typeof knowledgeFeature>>

/** Creates the knowledge of USB devices: the files of the release, and signed sets uploaded at run time. */
export const knowledgeFeature = async (app: HttpApp, context: KnowledgeContext & Omit<KnowledgeDeps, 'seals'>) => {
  const service = await createKnowledgeService({
    ...context,
    seals: createKnowledgeSeals(context.keys.derive('knowledge')),
  })
  registerKnowledgeRoutes(app, service)
  const { current, forAgents, refresh, catchUp, age } = service
  return { current, forAgents, refresh, catchUp, age }
}
