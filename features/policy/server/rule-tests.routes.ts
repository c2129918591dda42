import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createRuleTest, deleteRuleTest, listRuleTests, sampleRuleTest, updateRuleTest } from '#features/contract.ts'
import type { RuleTests } from './rule-tests.service.ts'

export const registerRuleTests = (app: HttpApp, tests: RuleTests): void => {
  app.register(listRuleTests, async () => ({ data: await tests.list() }))
  app.register(sampleRuleTest, ({ query }) => tests.sample(query.uuid, query.deviceID))
  app.register(createRuleTest, ({ actor, body }) => tests.write(actor, body, null))
  app.register(updateRuleTest, ({ actor, params, body }) => tests.write(actor, body, params.id))
  app.register(deleteRuleTest, ({ actor, params }) => tests.remove(actor, params.id))
}
