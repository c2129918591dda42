import {
  reloadUncommonPeripherals,
  reloadVulnerablePeripherals,
  uncommonPeripherals,
  vulnerablePeripherals,
} from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { InsightsService } from './insights.service.ts'

export const registerInsightRoutes = (app: HttpApp, { uncommon, vulnerable }: InsightsService): void => {
  app.register(uncommonPeripherals, () => uncommon.get())
  app.register(reloadUncommonPeripherals, () => uncommon.reload())
  app.register(vulnerablePeripherals, () => vulnerable.get())
  app.register(reloadVulnerablePeripherals, () => vulnerable.reload())
}
