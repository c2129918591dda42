import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { TagGate } from './ports.ts'
import { createTagsImport } from './tags.import.ts'
import { createTagsRead } from './tags.read.ts'
import { registerTagsRoutes } from './tags.routes.ts'
import { createTagsService, type TagsService } from './tags.service.ts'

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

/** `exportDb` is the pool of long reads. */
export const tagsFeature = (
  app: HttpApp,
  { db, exportDb, clock, audit, gate }: { db: Db; exportDb: Db; clock: Clock; audit: Audit; gate: TagGate },
): TagsApi => {
  const tags = createTagsService({ db, audit, gate })
  registerTagsRoutes(app, {
    tags,
    read: createTagsRead({ db, exportDb }),
    imports: createTagsImport({ db, audit, gate }),
    clock,
  })
  return {
    ensureTags: tags.ensureTags,
    tagAgents: tags.tagAgents,
    setAgentTags: tags.setAgentTags,
    measureAgentTags: tags.measureAgentTags,
    names: tags.names,
    untagAgents: tags.untagAgents,
    requireNames: tags.requireNames,
    carryOut: tags.carryOut,
    settle: gate.settle,
  }
}
