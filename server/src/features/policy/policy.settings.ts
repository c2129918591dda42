import type { PolicySettings } from '@portcullis/contract'
import type { Queryable, Tx } from '#platform/db/db.ts'
import type { PolicyStore } from './policy.store.ts'

/** Config items of the policy with their defaults. */
const names = {
  twoPersonHosts: 'VENDORA_POLICY_TWO_PERSON_HOSTS',
  grantMaxHours: 'VENDORA_POLICY_GRANT_MAX_HOURS',
  commandHours: 'VENDORA_POLICY_COMMAND_HOURS',
  contact: 'VENDORA_POLICY_CONTACT',
} as const

/** 100 hosts: a floor of a building. A week of grants; a week for a notebook to come back from a journey and take its command. */
const defaults: PolicySettings = { twoPersonHosts: 100, grantMaxHours: 168, commandHours: 168, contact: '' }

const numberOr = (text: string | undefined, value: number): number => {
  const n = Number(text)
  return text !== undefined && text !== '' && Number.isInteger(n) && n > 0 ? n : value
}

/** Settings of the policy, kept as config items. */
export const createPolicySettings = ({ store }: { store: PolicyStore }) => ({
  read: async (db: Queryable): Promise<PolicySettings> => {
    const stored = new Map((await store.items(db, Object.values(names))).map((row) => [row.name, row.value]))
    const two = stored.get(names.twoPersonHosts)
    return {
      twoPersonHosts: two === 'off' ? null : numberOr(two, defaults.twoPersonHosts as number),
      grantMaxHours: numberOr(stored.get(names.grantMaxHours), defaults.grantMaxHours),
      commandHours: numberOr(stored.get(names.commandHours), defaults.commandHours),
      contact: stored.get(names.contact) ?? defaults.contact,
    }
  },
  write: (tx: Tx, now: Date, settings: PolicySettings): Promise<void> =>
    store.setItems(tx, now, [
      [names.twoPersonHosts, settings.twoPersonHosts === null ? 'off' : String(settings.twoPersonHosts)],
      [names.grantMaxHours, String(settings.grantMaxHours)],
      [names.commandHours, String(settings.commandHours)],
      [names.contact, settings.contact],
    ]),
})

export type PolicySettingsApi = ReturnType<typeof createPolicySettings>
