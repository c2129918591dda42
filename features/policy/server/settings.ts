import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { PolicyOptions, PolicySettings } from '#features/contract.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'

/** Reads the policy settings from the items of the general configuration. */
export const settingsOf = (text: (name: SettingName) => string): PolicySettings => {
  const two = Number(text('VENDORA_TWO_PERSON_LIMIT'))
  return {
    twoPersonHosts: two === 0 ? null : two,
    grantMaxHours: Number(text('VENDORA_GRANT_MAX_HOURS')),
    commandHours: Number(text('VENDORA_COMMAND_EXPIRY_HOURS')),
    contact: text('VENDORA_CONTACT'),
  }
}

/** Returns the options of a host by its tags; undefined: all options have their defaults. */
const optionsOf = (text: (name: OptionName) => string, hashtags: string): PolicyOptions | undefined => {
  const own = tagNames(hashtags)
  const has = (name: OptionName): boolean => [...tagNames(text(name))].some((tag) => own.has(tag))
  const options = {
    keepsLastKeyboard: !has('VENDORA_NO_LAST_KEYBOARD_TAGS'),
    failsClosed: has('VENDORA_FAIL_CLOSED_TAGS'),
  }
  return options.keepsLastKeyboard && !options.failsClosed ? undefined : options
}

/** Returns the tags that an item names, in lower case. */
export const tagNames = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .split(',')
      .map((tag) => tag.trim().toLowerCase())
      .filter((tag) => tag !== ''),
  )

/** Configuration items that name the tags of hosts with other options than the default. */
export const optionNames = ['VENDORA_NO_LAST_KEYBOARD_TAGS', 'VENDORA_FAIL_CLOSED_TAGS'] as const
export type OptionName = (typeof optionNames)[number]

export type SettingName =
  | 'VENDORA_TWO_PERSON_LIMIT'
  | 'VENDORA_GRANT_MAX_HOURS'
  | 'VENDORA_COMMAND_EXPIRY_HOURS'
  | 'VENDORA_CONTACT'

/** Refuses a request whose old values are no longer in force. Requests of older servers name none. */
export const assertInForce = <Values extends object>(before: Values | undefined, now: Values): void => {
  const differs = (name: keyof Values): boolean => before !== undefined && before[name] !== now[name]
  if ((Object.keys(now) as (keyof Values)[]).some(differs))
    throw new AppError('conflict', { detail: 'The settings changed after this request. Request the change again.' })
}

/** Reads and writes the policy settings, which are items of the general configuration. */
export const createPolicySettings = (config: SettingsApi) => ({
  read: async (db: Queryable): Promise<PolicySettings> => settingsOf((await config.values(db, 'vendorA')).text),
  /** Locks the settings for the transaction, so that nobody else changes them. */
  lock: config.lock,
  /** Returns the options of a host with these tags, separated by commas. */
  options: async (db: Queryable, hashtags: string): Promise<PolicyOptions | undefined> =>
    optionsOf((await config.values(db, 'vendorA')).text, hashtags),
  /** Returns the values of the items that name tags. */
  optionTexts: async (db: Queryable): Promise<Record<OptionName, string>> => {
    const { text } = await config.values(db, 'vendorA')
    return Object.fromEntries(optionNames.map((name) => [name, text(name)])) as Record<OptionName, string>
  },
  writeOptions: (tx: Tx, actor: Actor, options: Record<OptionName, string>): Promise<void> =>
    config.write(tx, actor, options),
  /** Returns the case-folded names of the tags that set options of hosts. */
  optionTags: async (db: Queryable): Promise<ReadonlySet<string>> => {
    const { text } = await config.values(db, 'vendorA')
    return new Set(optionNames.flatMap((name) => [...tagNames(text(name))].map(fold)))
  },
  write: (tx: Tx, actor: Actor, settings: PolicySettings): Promise<void> =>
    config.write(tx, actor, {
      VENDORA_TWO_PERSON_LIMIT: String(settings.twoPersonHosts ?? 0),
      VENDORA_GRANT_MAX_HOURS: String(settings.grantMaxHours),
      VENDORA_COMMAND_EXPIRY_HOURS: String(settings.commandHours),
      VENDORA_CONTACT: settings.contact,
    }),
})

export type PolicySettingsApi = ReturnType<typeof createPolicySettings>
