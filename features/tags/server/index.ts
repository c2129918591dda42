import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { TagsContext } from './context.ts'
import { registerTagsRoutes } from './tags.routes.ts'
import { createTagsService } from './tags.service.ts'

export { because, type HostTagChange, type TagChange } from './changes.ts'
export { tagNameFault } from './names.ts'
export type { TagGate } from './ports.ts'
export type TagsApi = ReturnType<typeof tagsFeature>

export const tagsFeature = (app: HttpApp, context: TagsContext) => {
  const tags = createTagsService(context)
  registerTagsRoutes(app, context, tags)
  return { ...tags, settle: context.gate.settle }
}
