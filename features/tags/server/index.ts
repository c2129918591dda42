import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { TagGate } from './ports.ts'
import { createTagsImport } from './tags.import.ts'
import { createTagsRead } from './tags.read.ts'
import { registerTagsRoutes } from './tags.routes.ts'
import { createTagsService, type TagsDeps, type TagsService } from './tags.service.ts'

export type { TagGate } from './ports.ts'
export { tagNameFault } from './tags.names.ts'
export { because, type HostTagChange, type TagOrder } from './tags.orders.ts'
export type TagsApi = Pick<
  TagsService & TagGate,
  | 'ensureTags'
  | 'tagAgents'
  | 'setAgentTags'
  | 'measureAgentTags'
  | 'names'
  | 'untagAgents'
  | 'requireNames'
  | 'carryOut'
  | 'settle'
>

export const tagsFeature = (app: HttpApp, context: TagsDeps): TagsApi => {
  const tags = createTagsService(context)
  registerTagsRoutes(app, {
    tags,
    read: createTagsRead(context),
    imports: createTagsImport(context),
    clock: context.clock,
  })
  return { ...tags, settle: context.gate.settle }
}
