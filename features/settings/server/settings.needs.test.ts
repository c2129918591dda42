import type { ConfigGroupName } from '@portcullis/contract'
import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import { startFeatureApp } from '@portcullis/server/test/feature-app.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditFeature } from '#features/audit/server/index.ts'
import { settingsFeature } from './index.ts'

const guarded: ConfigGroupName[] = ['smtp', 'ldap', 'oidc', 'ise', 'cact', 'security', 'vendorA', 'license', 'backup']
const bus = { on: () => {}, onGap: () => {}, publish: async () => {} } as unknown as Bus
const refusals: string[] = []
let t: Awaited<ReturnType<typeof startFeatureApp>>

beforeAll(async () => {
  t = await startFeatureApp(async (app, context) => {
    const noteRefusal = () => {
      try {
        app.seal()
      } catch (error) {
        refusals.push((error as Error).message)
      }
    }
    const settings = await settingsFeature(app, { ...context, bus, audit: auditFeature(app, context) })
    noteRefusal()
    settings.gateSignIn({ assertAlone: async () => {}, changed: async () => {} })
    for (const group of guarded.slice(1)) settings.guard(group, async () => {})
    noteRefusal()
    settings.guard('smtp', async () => {})
  })
})
afterAll(() => t.close())

it('refuses to start the server while a guarded group has no guard', () => {
  expect(refusals).toEqual([
    `not registered: ${[...guarded.map((group) => `a guard of the settings ${group}`), 'a gate of the sign-in settings'].join(', ')}`,
    'not registered: a guard of the settings smtp',
  ])
})
