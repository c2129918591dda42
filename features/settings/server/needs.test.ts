import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditFeature } from '#features/audit/server/index.ts'
import type { ConfigGroupName } from '#features/contract.ts'
import { settingsFeature } from './index.ts'

const validated: ConfigGroupName[] = ['smtp', 'ldap', 'oidc', 'ise', 'cact', 'security', 'vendorA', 'license', 'backup']
const bus = { on: () => {}, onGap: () => {}, publish: async () => {} } as unknown as Bus
const refusals: string[] = []
let t: Awaited<ReturnType<typeof startCapabilityApp>>

beforeAll(async () => {
  t = await startCapabilityApp(async (app, context) => {
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
    for (const group of validated.slice(1)) settings.addValidator(group, async () => {})
    noteRefusal()
    settings.addValidator('smtp', async () => {})
  })
})
afterAll(() => t.close())

it('refuses to start the server while a group has no validator', () => {
  expect(refusals).toEqual([
    `not registered: ${[...validated.map((group) => `a validator of the settings ${group}`), 'a gate of the sign-in settings'].join(', ')}`,
    'not registered: a validator of the settings smtp',
  ])
})
