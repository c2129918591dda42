import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { addOrUpdateLicense, getLicence } from '#features/contract.ts'
import type { AgentsContext } from '../context.ts'
import { createLicence } from './licence.service.ts'

export type LicenceApi = ReturnType<typeof licenceFeature>

/** Manages the licence and passes it on to hosts. */
export const licenceFeature = (app: HttpApp, context: AgentsContext) => {
  const { log, settings } = context
  const licence = createLicence(context)
  settings.addValidator('license', licence.validate)
  app.register(getLicence, () => licence.details())
  app.register(addOrUpdateLicense, async ({ actor, body }) => {
    await settings.save(actor, 'license', body ?? {})
    licence.forget()
    await licence.apply()
    return licence.details()
  })
  settings.onChange((names) => {
    if (names !== null && !names.includes('LICENSE_KEY')) return
    licence.forget()
    licence
      .apply()
      .catch((error: unknown) => log.warn({ err: error }, 'could not apply the licence; the next run retries'))
  })
  return { summary: licence.summary, apply: licence.apply, health: licence.health }
}
