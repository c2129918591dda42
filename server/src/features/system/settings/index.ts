import {
  addOrUpdateCact,
  addOrUpdateHealth,
  addOrUpdateIse,
  addOrUpdateLdap,
  addOrUpdateLogin,
  addOrUpdateOidc,
  addOrUpdateSecurity,
  addOrUpdateSmtp,
  addOrUpdateVendorA,
  configHistory,
  configRollback,
  getConfigItemsByName,
  getConfigItemsByPrefix,
  getConfigItemsByPrefixVendorA,
  getCustomLoginConfigItems,
  integrationUses,
  removeSmtpPassword,
  setServerDomainName,
  testDomainName,
} from '@portcullis/contract'
import type { Audit } from '#features/system/audit/index.ts'
import { invalid } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Bus } from '#platform/db/bus.ts'
import type { Db } from '#platform/db/db.ts'
import type { ResolveDestination } from '#platform/destinations.ts'
import type { Envelope } from '#platform/envelope.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Log } from '#platform/log.ts'
import type { SealedColumn } from '#platform/sealed-column.ts'
import { testDomain } from './domain-test.ts'
import { createSettings, placeOfItem, settingsTopic } from './settings.service.ts'
import { createSettingsStore } from './settings.store.ts'
import { createThresholds } from './thresholds.ts'

export { linkBase } from './domain-test.ts'
export { type SignInChange, signInDetails, signInTitle } from './settings.approval.ts'
export { certificatesOf } from './settings.rules.ts'
export { type GivenItems, type GroupValues, settingsTopic } from './settings.service.ts'
export type { Thresholds } from './thresholds.ts'

export interface SettingsFeatureDeps {
  db: Db
  clock: Clock
  log: Log
  bus: Bus
  audit: Audit
  envelope: Envelope
  resolve: ResolveDestination
  /** Address the server listens on. */
  serverUrl(): string
}

/** Where this feature keeps sealed secrets; a version of an item has its name behind its number. */
export const settingsSealed: readonly SealedColumn[] = [
  { table: 'config_items', key: 't.name', column: 'sealed', place: placeOfItem },
  {
    table: 'config_history',
    key: "lpad(t.version::text, 10, '0') || ' ' || t.name",
    column: 'sealed',
    place: (key) => placeOfItem(key.slice(11)),
  },
]

export type SettingsApi = Awaited<ReturnType<typeof settingsFeature>>

const mostNames = 50

const atHand = [
  'SERVER_DOMAIN_NAME',
  'VENDORA_CHECKIN_SECONDS',
  'VENDORA_RETENTION_DAYS_EVENTS',
  'VENDORA_SILENT_HOURS',
] as const
const isAtHand = (name: string): boolean => (atHand as readonly string[]).includes(name)

/** Entries of a comma list in a path, in capitals as names are. */
const listOf = (field: string, text: string): string[] => {
  const entries = text.split(',').map((entry) => entry.trim().toUpperCase())
  if (entries.length > mostNames) throw invalid(`params.${field}`, `names more than ${mostNames}`)
  return entries.filter((entry) => entry !== '')
}

/** The general configuration: groups of named items, with versions and a way back. */
export const settingsFeature = async (app: HttpApp, deps: SettingsFeatureDeps) => {
  const settings = createSettings({ ...deps, store: createSettingsStore() })
  for (const { what, isThere } of settings.needs) app.needs(what, isThere)
  const writes = [
    [addOrUpdateSmtp, 'smtp'],
    [addOrUpdateLdap, 'ldap'],
    [addOrUpdateOidc, 'oidc'],
    [addOrUpdateIse, 'ise'],
    [addOrUpdateCact, 'cact'],
    [addOrUpdateSecurity, 'security'],
    [addOrUpdateLogin, 'login'],
    [addOrUpdateVendorA, 'vendorA'],
    [addOrUpdateHealth, 'health'],
    [setServerDomainName, 'domain'],
  ] as const
  for (const [operation, group] of writes)
    app.register(operation, ({ actor, body }) => settings.save(actor, group, body ?? {}))
  app.register(removeSmtpPassword, ({ actor }) => settings.save(actor, 'smtp', { SMTP_PASSWORD: null }))

  app.register(getConfigItemsByPrefix, ({ params }) => {
    const prefixes = listOf('prefixes', params.prefixes as string)
    return settings.read((name) => prefixes.some((prefix) => name.startsWith(prefix)))
  })
  app.register(getConfigItemsByName, ({ params }) => {
    const names = new Set(listOf('names', params.names as string))
    return settings.read((name) => names.has(name))
  })
  app.register(getConfigItemsByPrefixVendorA, ({ params }) => {
    const prefixes = listOf('prefixes', params.prefixes as string).map((prefix) => `VENDORA_${prefix}`)
    return settings.read((name) => prefixes.some((prefix) => name.startsWith(prefix)))
  })
  app.register(getCustomLoginConfigItems, () => settings.read((name) => name.startsWith('CUSTOM_LOGIN_')))
  app.register(testDomainName, async ({ body }) =>
    testDomain(
      (await settings.values(deps.db, 'domain', body ?? {})).text('SERVER_DOMAIN_NAME'),
      deps.serverUrl(),
      deps.clock.now(),
      deps.resolve,
    ),
  )
  app.register(integrationUses, async () => ({ data: await settings.uses() }))
  app.register(configHistory, ({ query }) =>
    settings.history((query.prefix ?? '').toUpperCase(), { number: query.PageNumber ?? 1, size: query.PageSize ?? 50 }),
  )
  app.register(configRollback, ({ actor, params, query }) =>
    settings.rollback(actor, params.version, (query.prefix ?? '').toUpperCase(), query.dryRun === true),
  )

  function onChange(handler: (names: readonly string[] | null) => void): void {
    deps.bus.on(settingsTopic, ({ names }) => handler(names as string[]))
    deps.bus.onGap(() => handler(null))
  }
  // What every request asks for is not looked up each time.
  let current = await settings.read(isAtHand)
  async function refresh(): Promise<void> {
    current = await settings.read(isAtHand)
  }
  onChange((names) => {
    if (names?.some(isAtHand) !== false)
      refresh().catch((error: unknown) => deps.log.warn({ err: error }, 'the configuration is read again later'))
  })

  return {
    /** An item that is kept at hand; on another replica a change is seen a moment later. */
    now: (name: (typeof atHand)[number]): string => current[name] ?? '',
    /** Thresholds of the health page, kept at hand, too. */
    threshold: await createThresholds({ ...deps, settings: { values: settings.values, onChange } }),
    /** Reads them again, in case a message was lost; every minute. */
    refresh,
    guard: settings.guard,
    gateSignIn: settings.gateSignIn,
    noteSignIn: settings.noteSignIn,
    signInNotes: settings.signInNotes,
    save: settings.save,
    write: settings.write,
    read: settings.read,
    readSet: settings.readSet,
    guardAll: settings.guardAll,
    lock: settings.lock,
    applyAll: settings.applyAll,
    applySignIn: settings.applySignIn,
    values: settings.values,
    noteUse: settings.noteUse,
    uses: settings.uses,
    /** Hears, on every replica, that items changed; null: any of them may have. */
    onChange,
  }
}
