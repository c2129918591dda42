import { answered } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  type AssetDataSchema,
  AssetMessage,
  assetDataSchemas,
  assetSchema,
  assetSchemaUrn,
  assetStream,
  forgetAssetConsumer,
  getAssetLocations,
  getAssetReplay,
  getAssetStreamState,
  listAssetConsumers,
  replayAll,
  sendMonitorOldLocation,
} from '#features/contract.ts'
import type { Consumers } from './consumers.ts'
import type { createLocations } from './locations.ts'
import type { createReplay } from './replay.ts'
import type { createState } from './state.ts'
import type { createStream } from './stream.ts'

const schemas = {
  message: AssetMessage,
  data: Object.fromEntries(
    Object.entries(assetDataSchemas).map(([name, schema]) => {
      const urn = assetSchemaUrn(name as AssetDataSchema)
      return [urn, { $id: urn, ...schema }]
    }),
  ),
}

export interface AssetParts {
  stream: ReturnType<typeof createStream>
  replay: ReturnType<typeof createReplay>
  locations: ReturnType<typeof createLocations>
  consumers: Consumers
  state: ReturnType<typeof createState>
}

export const registerAssetRoutes = (app: HttpApp, parts: AssetParts): void => {
  const { stream, replay, locations, consumers, state } = parts
  app.register(assetStream, async ({ actor, query, request, reply }) => {
    await stream.serve(actor, query, request, reply)
    return answered as never
  })
  app.register(assetSchema, async () => schemas)
  app.register(replayAll, ({ actor }) => replay.start(actor))
  app.register(getAssetReplay, ({ params }) => replay.read(params.jobId))
  app.register(sendMonitorOldLocation, ({ actor }) => locations.send(actor))
  app.register(getAssetLocations, ({ params }) => locations.of(params.agentId))
  app.register(listAssetConsumers, () => consumers.list())
  app.register(forgetAssetConsumer, ({ actor, params }) => consumers.forget(actor, params.kind, params.name))
  app.register(getAssetStreamState, () => state.read())
}
