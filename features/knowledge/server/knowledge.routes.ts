import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  applyKnowledge,
  getKnowledge,
  previewKnowledge,
  rollbackKnowledge,
  uploadKnowledge,
} from '#features/contract.ts'
import type { KnowledgeService } from './knowledge.service.ts'

export const registerKnowledgeRoutes = (app: HttpApp, knowledge: KnowledgeService): void => {
  app.register(getKnowledge, () => knowledge.status())
  app.register(uploadKnowledge, ({ actor, body }) => knowledge.upload(actor, body))
  app.register(previewKnowledge, () => knowledge.preview())
  app.register(applyKnowledge, ({ actor, body }) => knowledge.apply(actor, body.id))
  app.register(rollbackKnowledge, ({ actor }) => knowledge.rollback(actor))
}
