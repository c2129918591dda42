import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  errorTotal,
  reloadUncommonPeripherals,
  reloadVulnerablePeripherals,
  spoofedIdentities,
  uncommonPeripherals,
  uniqueWhitelistViolation,
  vulnerablePeripherals,
} from '#features/contract.ts'
import type { InsightsService } from './insights.service.ts'

export const registerInsightRoutes = (app: HttpApp, insights: InsightsService): void => {
  app.register(uncommonPeripherals, ({ query }) => insights.ofVendor(insights.uncommon.get(), query.vendor))
  app.register(reloadUncommonPeripherals, () => insights.uncommon.reload())
  app.register(vulnerablePeripherals, ({ query }) => insights.ofVendor(insights.vulnerable.get(), query.vendor))
  app.register(reloadVulnerablePeripherals, () => insights.vulnerable.reload())
  app.register(spoofedIdentities, ({ query }) => insights.ofVendor(insights.spoofed.get(), query.vendor))
  app.register(uniqueWhitelistViolation, ({ query }) => insights.violations(query.vendor))
  app.register(errorTotal, ({ query }) => insights.errors(query))
}
