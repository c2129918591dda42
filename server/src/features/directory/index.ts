import type { DirectoryPort } from '#features/accounts/index.ts'
import type { SettingsApi } from '#features/settings/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Log } from '#platform/log.ts'
import { ldapConfigOf } from './ldap.config.ts'
import { createLdap } from './ldap.service.ts'

export interface DirectoryFeatureDeps {
  db: Db
  clock: Clock
  log: Log
  settings: Pick<SettingsApi, 'values' | 'onChange'>
}

/** Sign-in by a directory or an identity provider. */
export const directoryFeature = (_app: HttpApp, { db, clock, log, settings }: DirectoryFeatureDeps) => {
  const ldap = createLdap({ clock, log, config: async () => ldapConfigOf(await settings.values(db, 'ldap')) })
  settings.onChange((names) => {
    if (names === null || names.some((name) => name.startsWith('LDAP_'))) ldap.resume()
  })
  const port: DirectoryPort = ldap.port
  return {
    port,
    providers: async () => ({ ldap: await ldap.port.isOn(), oidc: [] }),
  }
}
