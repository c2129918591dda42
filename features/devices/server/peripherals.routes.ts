import { notFound } from '@portcullis/platform/server/app-error.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import type { List } from '@portcullis/platform/server/list/list.ts'
import {
  getAgentPeripherals,
  getDevicePassport,
  getIcons,
  getModelPassport,
  getPeripheralModels,
  getPeripherals,
  suggestFilterValues,
} from '#features/contract.ts'
import { iconPictures } from './icon-pictures.ts'
import type { ModelPassport } from './model-passport.ts'
import type { Passport } from './passport.ts'
import { ofAgent, type PeripheralsRead } from './peripherals.read.ts'
import type { createSuggestions } from './suggestions.read.ts'

export const registerPeripheralRoutes = (
  app: HttpApp,
  lists: { peripherals: List; models: List },
  read: PeripheralsRead,
  suggest: ReturnType<typeof createSuggestions>,
  passports: { device: Passport; model: ModelPassport },
): void => {
  app.register(getIcons, async () => iconPictures)
  app.register(getPeripherals, ({ query }) => lists.peripherals.page(query))
  app.register(getPeripheralModels, ({ query }) => lists.models.page(query))
  app.register(suggestFilterValues, ({ query }) => suggest(query))
  app.register(getDevicePassport, ({ params, query }) => passports.device(params.uuid, query.deviceID))
  app.register(getModelPassport, ({ params }) => passports.model(params.model))
  app.register(getAgentPeripherals, async ({ params, query }) => {
    if (!isId(params.uuid) || !(await read.agentExists(params.uuid))) throw notFound('No agent has this uuid.')
    return lists.peripherals.page(query, ofAgent(params.uuid))
  })
}
