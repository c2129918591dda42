import { isGzip } from '@portcullis/platform/server/http/gunzip.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createFeed, deleteFeed, feedHost, ingestFeed, listFeeds, updateFeed } from '#features/contract.ts'
import type { FeedsContext } from './context.ts'
import { createFeedsService } from './feeds.service.ts'

/** Manages feeds: hosts without an agent that only the events of other systems describe. */
export const feedsFeature = (app: HttpApp, context: FeedsContext) => {
  const feeds = createFeedsService(context)
  app.register(listFeeds, () => feeds.list())
  app.register(createFeed, ({ actor, body }) => feeds.create(actor, body))
  app.register(updateFeed, ({ actor, params, body }) => feeds.change(actor, params.id, body))
  app.register(deleteFeed, ({ actor, params }) => feeds.remove(actor, params.id))
  app.register(ingestFeed, ({ actor, params, request }) =>
    feeds.ingest(
      actor,
      params.id,
      request.body as Buffer | undefined,
      isGzip(request.headers['content-encoding']) ? request.raw.socket : undefined,
    ),
  )
  app.register(feedHost, ({ params }) => feeds.host(params.uuid))
  return feeds
}
