import {
  errorTotal,
  reloadUncommonPeripherals,
  reloadVulnerablePeripherals,
  spoofedIdentities,
  uncommonPeripherals,
  uniqueWhitelistViolation,
  vulnerablePeripherals,
} from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { InsightsService } from './insights.service.ts'

export const registerInsightRoutes = (app: HttpApp, insights: InsightsService): void => {
  app.register(uncommonPeripherals, () => insights.uncommon.get())
  app.register(reloadUncommonPeripherals, () => insights.uncommon.reload())
  app.register(vulnerablePeripherals, () => insights.vulnerable.get())
  app.register(reloadVulnerablePeripherals, () => insights.vulnerable.reload())
  app.register(spoofedIdentities, () => insights.spoofed.get())
  app.register(uniqueWhitelistViolation, () => insights.violations())
  app.register(errorTotal, ({ query }) => insights.errors(query))
}
