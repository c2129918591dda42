import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import {
  addOrUpdateBackup,
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
} from '#features/contract.ts'
import type { SettingsContext } from './context.ts'
import { linkBase, testDomain } from './domain-test.ts'
import { createSettings, itemContext, settingsTopic } from './settings.service.ts'
import { createThresholds } from './thresholds.ts'

export { type SignInChange, signInDetails, signInTitle } from './approval.ts'
export { linkBase } from './domain-test.ts'
export { certificatesOf } from './settings.rules.ts'
export { type GivenItems, type GroupValues, settingsTopic } from './settings.service.ts'
export type { Thresholds } from './thresholds.ts'

/** The key of a version has the item's name after its number. */
export const settingsSealed: readonly SealedColumn[] = [
  { table: 'config_items', key: 't.name', column: 'sealed', context: itemContext },
  {
    table: 'config_history',
    key: "lpad(t.version::text, 10, '0') || ' ' || t.name",
    column: 'sealed',
    context: (key) => itemContext(key.slice(11)),
  },
]

export type SettingsApi = Awaited<ReturnType<typeof settingsFeature>>

const maxNames = 50

const cachedNames = [
  'CUSTOM_LOGIN_LOGO',
  'SERVER_DOMAIN_NAME',
  'VENDORA_CHECKIN_SECONDS',
  'VENDORA_RETENTION_DAYS_EVENTS',
  'VENDORA_SILENT_HOURS',
] as const
const isCached = (name: string): boolean => (cachedNames as readonly string[]).includes(name)

/** Splits a comma list in a path into upper-case names. */
const listOf = (field: string, text: string): string[] => {
  const entries = text.split(',').map((entry) => entry.trim().toUpperCase())
  if (entries.length > maxNames) throw invalid(`params.${field}`, `names more than ${maxNames}`)
  return entries.filter((entry) => entry !== '')
}

/** Manages the general configuration: groups of named items, with versions and rollback. */
export const settingsFeature = async (app: HttpApp, context: SettingsContext) => {
  const settings = createSettings(context)
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
    [addOrUpdateBackup, 'backup'],
    [setServerDomainName, 'domain'],
  ] as const
  for (const [operation, group] of writes)
    app.register(operation, ({ actor, body }) => {
      const { ifValues, ...given } = body ?? {}
      return settings.save(actor, group, given, ifValues)
    })
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
      (await settings.values(context.db, 'domain', body ?? {})).text('SERVER_DOMAIN_NAME'),
      context.reach().url,
      context.clock.now(),
      context.resolve,
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
    context.bus.on(settingsTopic, ({ names }) => handler(names as string[]))
    context.bus.onGap(() => handler(null))
  }
  // Items that every request needs are cached.
  let current = await settings.read(isCached)
  async function refresh(): Promise<void> {
    current = await settings.read(isCached)
  }
  onChange((names) => {
    if (names?.some(isCached) !== false)
      refresh().catch((error: unknown) =>
        context.log.warn({ err: error }, 'could not read the configuration; the next run retries'),
      )
  })

  /** Returns a cached item. A change on another replica arrives a moment later. */
  const now = (name: (typeof cachedNames)[number]): string => current[name] ?? ''
  /** Returns the base of links, without a trailing slash. */
  const baseUrl = (): string => linkBase(now('SERVER_DOMAIN_NAME'), context.reach().url)

  return {
    ...settings,
    now,
    baseUrl,
    /** Returns the configured address of this server; null: none is set. */
    publicUrl: (): URL | null => (now('SERVER_DOMAIN_NAME') === '' ? null : new URL(baseUrl())),
    /** Cached thresholds of the health page. */
    threshold: await createThresholds({ ...context, settings: { values: settings.values, onChange } }),
    /** Reads the cached items again, in case a message was lost. Runs every minute. */
    refresh,
    /** Calls the handler on every replica with the changed items; null: any of them. */
    onChange,
  }
}
