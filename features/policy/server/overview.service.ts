import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { hostsText } from '#features/agents/server/index.ts'
import { type PolicySettings, settingLabel } from '#features/contract.ts'
import { createOptionGate } from './option-gate.ts'
import type { PolicyContext } from './policy.context.ts'
import type { PolicyRead } from './policy.read.ts'
import { plainReason } from './policy.rules.ts'
import { assertInForce, settingsOf } from './settings.ts'

interface SettingsChange {
  settings: PolicySettings
  /** The settings when the request was filed; absent in requests of older servers. */
  before?: PolicySettings
}

/** Returns the settings in the form that an approver reads. */
const textsOf = ({ twoPersonHosts, grantMaxHours, commandHours, contact }: PolicySettings): [string, string][] => [
  [settingLabel('VENDORA_TWO_PERSON_LIMIT'), twoPersonHosts === null ? 'any number' : String(twoPersonHosts)],
  [settingLabel('VENDORA_GRANT_MAX_HOURS'), String(grantMaxHours)],
  [settingLabel('VENDORA_COMMAND_EXPIRY_HOURS'), String(commandHours)],
  [settingLabel('VENDORA_CONTACT'), JSON.stringify(contact)],
]

/** Provides the policy overview, its settings, and whether a second approver is needed. */
export const createPolicyOverview = (context: PolicyContext, read: PolicyRead) => {
  const { db, clock, audit, policySettings: settings, changeRequests } = context
  const validateOptions = createOptionGate(context)

  /** Returns the number of hosts above which a second approver is needed, and the reason; null: never. */
  async function twoPerson(): Promise<{ hosts: number | null; explanation: string }> {
    const { twoPersonHosts } = await settings.read(db)
    if (twoPersonHosts === null)
      return { hosts: null, explanation: 'Turned off. One person can free or delete any number of hosts.' }
    const hosts = hostsText(twoPersonHosts)
    const until = await changeRequests.liftedUntil()
    if (until !== null)
      return {
        hosts: null,
        explanation: `Lifted by a server command until ${until.toISOString().slice(0, 16).replace('T', ' ')} UTC. One person can free or delete any number of hosts.`,
      }
    if (!(await changeRequests.isLatched()))
      return {
        hosts: null,
        explanation: `Off, because only one Administrator exists. After you add a second Administrator, freeing or deleting more than ${hosts} within 15 minutes needs a second approver.`,
      }
    return {
      hosts: twoPersonHosts,
      explanation: `Freeing or deleting more than ${hosts} within 15 minutes needs a second approver. The changes of all people count together.`,
    }
  }

  const settingNames = [
    ['twoPersonHosts', settingLabel('VENDORA_TWO_PERSON_LIMIT')],
    ['grantMaxHours', settingLabel('VENDORA_GRANT_MAX_HOURS')],
    ['commandHours', settingLabel('VENDORA_COMMAND_EXPIRY_HOURS')],
    ['contact', settingLabel('VENDORA_CONTACT')],
  ] as const

  async function write(tx: Tx, actor: Actor, given: PolicySettings): Promise<PolicySettings> {
    const before = await settings.read(tx)
    await settings.write(tx, actor, given)
    await audit.write(tx, actor, {
      action: 'policy.settingsChanged',
      entity: 'policy settings',
      details: `from ${JSON.stringify(before)} to ${JSON.stringify(given)}`,
      severity: 4,
      facts: settingNames
        .filter(([key]) => before[key] !== given[key])
        .map(([key, name]) => ({ name, before: String(before[key] ?? 'none'), after: String(given[key] ?? 'none') })),
    })
    return settings.read(tx)
  }

  changeRequests.handle<SettingsChange>('settings', {
    action: 'settings',
    title: ({ settings: { twoPersonHosts } }) =>
      twoPersonHosts === null
        ? 'Never require a second approver for hosts'
        : `Require a second approver only above ${hostsText(twoPersonHosts)}`,
    details: async (tx, change) => {
      const before = textsOf(change.before ?? (await settings.read(tx)))
      // The approval writes all of them.
      return textsOf(change.settings).map(([name, value], i) => {
        const old = before[i]?.[1]
        return old === value ? `${name}: ${value} (unchanged)` : `${name}: ${old} → ${value}`
      })
    },
    carryOut: async (tx, actor, change) => {
      await settings.lock(tx)
      assertInForce(change.before, await settings.read(tx))
      await write(tx, actor, change.settings)
      return undefined
    },
  })

  async function validate(actor: Actor, given: PolicySettings): Promise<void> {
    const before = await settings.read(db)
    const inForce = before.twoPersonHosts
    // This also applies while a single Administrator could raise the limit alone.
    if (inForce !== null && (given.twoPersonHosts === null || given.twoPersonHosts > inForce))
      assertFresh(actor, clock.now())
    await changeRequests.assertAlone<SettingsChange>(actor, { kind: 'limit', limit: given.twoPersonHosts }, () => ({
      kind: 'settings',
      change: { settings: given, before },
      detail: 'Raising the limit needs a second approver. Ask another Administrator to approve request {id}.',
    }))
  }

  return {
    twoPerson,
    /** Requires a second approver for configuration items that would weaken this requirement. */
    validateItems: async (actor: Actor, items: ReadonlyMap<string, string>): Promise<void> => {
      await validate(
        actor,
        settingsOf((name) => items.get(name) ?? ''),
      )
      await validateOptions(actor, items)
    },
    /** Reads the settings in a transaction of the caller, so that it needs no second connection. */
    settings: (tx: Queryable = db) => settings.read(tx),
    read: async () => {
      const [o, inForce, two, liftedUntil] = await Promise.all([
        read.overview(),
        settings.read(db),
        twoPerson(),
        changeRequests.liftedUntil(),
      ])
      return {
        version: o.version,
        rules: { allow: o.allow, deny: o.deny, grants: o.grants, inert: o.inert },
        agents: { armed: o.armed, free: o.free },
        waiting: o.waiting,
        settings: inForce,
        twoPerson: {
          active: two.hosts !== null,
          explanation: two.explanation,
          liftedUntil: liftedUntil?.toISOString() ?? null,
        },
      }
    },
    write,
    save: async (actor: Actor, input: PolicySettings): Promise<PolicySettings> => {
      const given = { ...input, contact: plainReason(input.contact, 'body.contact') }
      await validate(actor, given)
      return db.transaction((tx) => write(tx, actor, given))
    },
  }
}

export type PolicyOverview = ReturnType<typeof createPolicyOverview>
