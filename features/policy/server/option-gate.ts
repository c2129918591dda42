import { AppError } from '@portcullis/platform/server/app-error.ts'
import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import { settingLabel } from '#features/contract.ts'
import type { PolicyContext } from './policy.context.ts'
import { assertInForce, type OptionName, optionNames, tagNames } from './settings.ts'

type Options = Record<OptionName, string>

/** Items that name the tags of hosts with special options, waiting for a second approver. */
interface OptionChange {
  options: Options
  /** The items when the request was filed; absent in requests of older servers. */
  before?: Options
  hosts: number
}

const differing = (a: ReadonlySet<string>, b: ReadonlySet<string>): string[] => [
  ...[...a].filter((one) => !b.has(one)),
  ...[...b].filter((one) => !a.has(one)),
]

/** Lists every item, because the approval writes all of them. */
const linesOf = (before: Options, after: Options): string[] =>
  optionNames.map((name) =>
    before[name] === after[name]
      ? `${settingLabel(name)}: ${JSON.stringify(after[name])} (unchanged)`
      : `${settingLabel(name)}: ${JSON.stringify(before[name])} → ${JSON.stringify(after[name])}`,
  )

/** Counts the hosts whose options change because a configuration item names other tags. */
export const createOptionGate = ({ db, store, policySettings: settings, changeRequests }: PolicyContext) => {
  async function hostsOf(tx: Tx, before: Options, after: Options, until: Date | null): Promise<number> {
    const hosts = new Set<string>()
    for (const name of optionNames)
      for (const tag of differing(tagNames(before[name]), tagNames(after[name])))
        for (const agentId of await store.hostsChangingTag(tx, fold(tag), null, 'remove', until)) hosts.add(agentId)
    return hosts.size
  }

  changeRequests.handle<OptionChange>('policyOptions', {
    action: 'settings',
    title: () => 'Change the tags that set host options',
    hosts: ({ hosts }) => hosts,
    details: async (tx, { options, before }) => linesOf(before ?? (await settings.optionTexts(tx)), options),
    carryOut: async (tx, actor, { options, before, hosts }, { requestedAt }) => {
      await settings.lock(tx)
      const now = await settings.optionTexts(tx)
      assertInForce(before, now)
      // Hosts that enrol later get the options of their tags anyway.
      if ((await hostsOf(tx, now, options, requestedAt)) > hosts)
        throw new AppError('conflict', {
          detail: 'More hosts have these tags now than at the time of the request. Request the change again.',
        })
      await settings.writeOptions(tx, actor, options)
      return undefined
    },
  })

  /** Refuses a change of these items that affects more hosts than one person may open alone. Otherwise counts it. */
  return async (actor: Actor, items: ReadonlyMap<string, string>): Promise<void> => {
    const outcome = await transactionAgain(db, async (tx) => {
      const before = await settings.optionTexts(tx)
      const options = Object.fromEntries(optionNames.map((name) => [name, items.get(name) ?? before[name]])) as Options
      const hosts = await hostsOf(tx, before, options, null)
      const refused = await changeRequests.take(tx, actor, { kind: 'allow', hosts })
      if (refused === null) return
      const change: OptionChange = { options, before, hosts }
      return new NeedsApprover({ kind: 'policyOptions', change, ...refused })
    })
    await changeRequests.settle(actor, outcome)
  }
}
