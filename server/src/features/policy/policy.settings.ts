import type { PolicySettings } from '@portcullis/contract'
import type { SettingsApi } from '#features/settings/index.ts'
import type { Queryable, Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'

/** Settings of the policy, from the items of the general configuration that hold them. */
export const settingsOf = (text: (name: SettingName) => string): PolicySettings => {
  const two = Number(text('VENDORA_TWO_PERSON_LIMIT'))
  return {
    twoPersonHosts: two === 0 ? null : two,
    grantMaxHours: Number(text('VENDORA_GRANT_MAX_HOURS')),
    commandHours: Number(text('VENDORA_COMMAND_EXPIRY_HOURS')),
    contact: text('VENDORA_CONTACT'),
  }
}

export type SettingName =
  | 'VENDORA_TWO_PERSON_LIMIT'
  | 'VENDORA_GRANT_MAX_HOURS'
  | 'VENDORA_COMMAND_EXPIRY_HOURS'
  | 'VENDORA_CONTACT'

/** Settings of the policy, kept as items of the general configuration. */
export const createPolicySettings = (config: Pick<SettingsApi, 'values' | 'write'>) => ({
  read: async (db: Queryable): Promise<PolicySettings> => settingsOf((await config.values(db, 'vendorA')).text),
  write: (tx: Tx, actor: Actor, settings: PolicySettings): Promise<void> =>
    config.write(tx, actor, {
      VENDORA_TWO_PERSON_LIMIT: String(settings.twoPersonHosts ?? 0),
      VENDORA_GRANT_MAX_HOURS: String(settings.grantMaxHours),
      VENDORA_COMMAND_EXPIRY_HOURS: String(settings.commandHours),
      VENDORA_CONTACT: settings.contact,
    }),
})

export type PolicySettingsApi = ReturnType<typeof createPolicySettings>
