import { existsSync, readFileSync } from 'node:fs'
import { addOrUpdateLicense, getLicence } from '@portcullis/contract'
import { licenceKeysOf } from '@portcullis/domain'
import { createHostLicences } from '#features/fleet/agents/index.ts'
import type { SettingsApi } from '#features/system/settings/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Log } from '#platform/log.ts'
import { createLicence } from './licence.service.ts'
import { createLicenceStore } from './licence.store.ts'

export interface LicenceFeatureDeps {
  db: Db
  clock: Clock
  log: Log
  settings: Pick<SettingsApi, 'values' | 'save' | 'onChange' | 'guard'>
  /** PEM file with public keys of issuers; it need not be there. */
  keysFile: string
  /** Days ahead on which it is said that the licence ends. */
  warnDays(): number
}

/** The licence, and what hosts are told of it. */
export const licenceFeature = (app: HttpApp, { db, clock, log, settings, keysFile, warnDays }: LicenceFeatureDeps) => {
  const licence = createLicence({
    db,
    clock,
    settings,
    warnDays,
    store: createLicenceStore(db),
    hosts: createHostLicences(db),
    keys: () => {
      try {
        return existsSync(keysFile) ? licenceKeysOf(readFileSync(keysFile, 'utf8')) : []
      } catch (error) {
        // A file that cannot be read trusts nobody; the health page says so by the licence that is Invalid then.
        log.error({ err: error, keysFile }, 'the file of licence keys cannot be read')
        return []
      }
    },
  })
  settings.guard('license', licence.guard)
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
    licence.apply().catch((error: unknown) => log.warn({ err: error }, 'the licence is applied later'))
  })
  return { summary: licence.summary, apply: licence.apply, health: licence.health }
}
