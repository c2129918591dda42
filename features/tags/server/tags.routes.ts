import { exportFileName, FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { withUploadedBytes } from '@portcullis/platform/server/http/uploaded-file.ts'
import { addHashtags, deleteHashtags, exportTags, getHashtags, importTags } from '#features/contract.ts'
import type { TagsContext } from './context.ts'
import { createTagsImport } from './import.ts'
import { createTagsRead } from './tags.read.ts'
import type { TagsService } from './tags.service.ts'

export const registerTagsRoutes = (app: HttpApp, context: TagsContext, tags: TagsService): void => {
  const read = createTagsRead(context)
  const imports = createTagsImport(context)
  app.register(getHashtags, () => read.list())
  app.register(addHashtags, ({ actor, body }) => tags.add(actor, body))
  app.register(deleteHashtags, ({ actor, body }) => tags.remove(actor, body))
  app.register(
    exportTags,
    async () =>
      new FileAnswer(exportFileName('tags', context.clock.now(), 'csv'), 'text/csv; charset=utf-8', read.exportFile()),
  )
  app.register(importTags, ({ actor, query, request }) =>
    withUploadedBytes(
      request,
      (bytes) => imports.importFile(actor, bytes, { isDry: query.dryRun === true, reason: query.reason?.trim() ?? '' }),
      {
        imported: 0,
        failed: 0,
        errors: [],
      },
    ),
  )
}
