import { existsSync, readFileSync } from 'node:fs'
import { addOrUpdateLicense, getLicence } from '@portcullis/contract'
import { licenceKeysOf } from '@portcullis/domain'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import { createHostLicences } from '../index.ts'
import { createLicence } from './licence.service.ts'
import { createLicenceStore } from './licence.store.ts'

export interface LicenceFeatureDeps {
  db: Db
  clock: Clock
  log: Log
  settings: Pick<SettingsApi, 'values' | 'save' | 'onChange' | 'guard'>
  /** PEM file with public keys of issuers. It is optional. */
  keysFile: string
  /** Days before expiry at which the health page warns. */
  warnDays(): number
}

/** Manages the licence and passes it on to hosts. */
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
        // Without a readable file, no key is trusted. The licence is then Invalid, which the health page shows.
        log.error({ err: error, keysFile }, 'cannot read the file of licence keys')
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
    licence
      .apply()
      .catch((error: unknown) => log.warn({ err: error }, 'could not apply the licence; the next run retries'))
  })
  return { summary: licence.summary, apply: licence.apply, health: licence.health }
}
