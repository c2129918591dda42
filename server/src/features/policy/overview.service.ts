import type { PolicySettings } from '@portcullis/contract'
import type { AuditApi } from '#features/audit/index.ts'
import type { Db, Queryable, Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import type { PolicyRead } from './policy.read.ts'
import { plainReason } from './policy.rules.ts'
import { type PolicySettingsApi, settingsOf } from './policy.settings.ts'

export interface OverviewDeps {
  db: Db
  audit: Pick<AuditApi, 'write'>
  read: PolicyRead
  settings: PolicySettingsApi
  /** Enabled Administrators. */
  administrators(): Promise<number>
  /** Refuses settings that a second person has to approve, and files them. */
  refuseSettings(actor: Actor, settings: PolicySettings): Promise<never>
}

/** The policy at a glance, its settings, and whether a second person is asked. */
export const createPolicyOverview = ({ db, audit, read, settings, administrators, refuseSettings }: OverviewDeps) => {
  /** Hosts above which a second person is needed, and why it is so; null: never. */
  const twoPerson = async (): Promise<{ hosts: number | null; explanation: string }> => {
    const { twoPersonHosts } = await settings.read(db)
    if (twoPersonHosts === null)
      return { hosts: null, explanation: 'Switched off: one person can free or delete any number of hosts.' }
    if ((await administrators()) < 2)
      return {
        hosts: null,
        explanation: `Off, because there is one Administrator only. With a second one, freeing or deleting more than ${twoPersonHosts} hosts needs two people.`,
      }
    return {
      hosts: twoPersonHosts,
      explanation: `Freeing or deleting more than ${twoPersonHosts} hosts needs a second person.`,
    }
  }

  const write = async (tx: Tx, actor: Actor, given: PolicySettings): Promise<PolicySettings> => {
    const before = await settings.read(tx)
    await settings.write(tx, actor, given)
    await audit.write(tx, actor, {
      action: 'policy.settingsChanged',
      entity: 'policy settings',
      details: `from ${JSON.stringify(before)} to ${JSON.stringify(given)}`,
      severity: 4,
    })
    return settings.read(tx)
  }

  const guard = async (actor: Actor, given: PolicySettings): Promise<void> => {
    const { hosts } = await twoPerson()
    if (hosts !== null && (given.twoPersonHosts === null || given.twoPersonHosts > hosts))
      await refuseSettings(actor, given)
  }

  return {
    twoPerson,
    guardItems: (actor: Actor, items: ReadonlyMap<string, string>): Promise<void> =>
      guard(
        actor,
        settingsOf((name) => items.get(name) ?? ''),
      ),
    /** In a transaction of the caller, so that it needs no second connection. */
    settings: (tx: Queryable = db) => settings.read(tx),
    read: async () => {
      const [o, inForce, two] = await Promise.all([read.overview(), settings.read(db), twoPerson()])
      return {
        version: o.version,
        rules: { allow: o.allow, deny: o.deny, grants: o.grants, inert: o.inert },
        agents: { armed: o.armed, free: o.free },
        waiting: o.waiting,
        settings: inForce,
        twoPerson: { active: two.hosts !== null, explanation: two.explanation },
      }
    },
    write,
    save: async (actor: Actor, input: PolicySettings): Promise<PolicySettings> => {
      const given = { ...input, contact: plainReason(input.contact, 'body.contact') }
      await guard(actor, given)
      return db.transaction((tx) => write(tx, actor, given))
    },
  }
}

export type PolicyOverview = ReturnType<typeof createPolicyOverview>
