import { addHashtags, deleteHashtags, exportTags, getHashtags, importTags } from '@portcullis/contract'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import { exportFileName, FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { withUploadedBytes } from '@portcullis/platform/server/http/uploaded-file.ts'
import type { TagsImport } from './tags.import.ts'
import type { TagsRead } from './tags.read.ts'
import type { TagsService } from './tags.service.ts'

interface Parts {
  tags: TagsService
  read: TagsRead
  imports: TagsImport
  clock: Clock
}

export const registerTagsRoutes = (app: HttpApp, { tags, read, imports, clock }: Parts): void => {
  app.register(getHashtags, () => read.list())
  app.register(addHashtags, ({ actor, body }) => tags.add(actor, body))
  app.register(deleteHashtags, ({ actor, body }) => tags.remove(actor, body))
  app.register(
    exportTags,
    async () =>
      new FileAnswer(exportFileName('tags', clock.now(), 'csv'), 'text/csv; charset=utf-8', read.exportFile()),
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
