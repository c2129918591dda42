import { AppError } from '@portcullis/platform/server/app-error.ts'
import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import type { BulkResult, UpdateResult } from '#features/contract.ts'
import type { HostsContext } from '../context.ts'
import { createBulkRead, type Target } from './bulk.read.ts'
import { type BulkRelease, refuseUpdate } from './gated.ts'
import { architecturesOf, type Build, commandFor, currentAgent, hasNoReleaseKey, impossible } from './possible.ts'
import { recordOrder } from './record.ts'

const idsOf = (targets: readonly Target[]): string[] => targets.map((target) => target.agent_id)

/** Runs operations on named agents. Unknown ids are reported and do not stop the operation. */
export const createOnIds = ({ db, commands, changeRequests, audit, builds: { latestPackage } }: HostsContext) => {
  const read = createBulkRead(db)
  /** Runs `work` on the agents that exist. The agents that it returns are accepted. */
  function over(
    uuids: readonly string[],
    work: (tx: Tx, targets: Target[]) => Promise<readonly string[]>,
  ): Promise<BulkResult> {
    const ids = [...new Set(uuids)]
    return transactionAgain(db, async (tx) => {
      const targets = await read.targets(tx, read.named(ids.filter(isId)))
      const known = new Set(targets.map((target) => target.agent_id))
      const accepted = new Set(targets.length === 0 ? [] : await work(tx, targets))
      return { accepted: ids.filter((id) => accepted.has(id)), notFound: ids.filter((id) => !known.has(id)) }
    })
  }

  function refuseAgentless(targets: readonly Target[]): void {
    const [first, ...more] = targets.filter((target) => target.agentless)
    if (first !== undefined)
      throw new AppError('conflict', {
        detail: `No agent runs on ${first.host}${more.length === 0 ? '' : ` and ${more.length} more hosts`}.`,
      })
  }

  return {
    cancelCommands: (actor: Actor, uuids: readonly string[]): Promise<BulkResult> =>
      over(uuids, async (tx, targets) => {
        const cancelled = await commands.cancel(
          tx,
          actor,
          targets.map((target) => target.agent_id),
        )
        await recordOrder(audit, tx, actor, 'cancelCommands', targets)
        return cancelled
      }),

    collectLogs: (actor: Actor, uuids: readonly string[]): Promise<BulkResult> =>
      over(uuids, async (tx, targets) => {
        refuseAgentless(targets)
        const specs = targets.flatMap(
          (target) => commandFor('collectLogs', target, { applyToPresent: false, builds: new Map() }) ?? [],
        )
        const { queued } = await commands.queue(tx, actor, specs)
        await recordOrder(audit, tx, actor, 'collectLogs', targets)
        return queued
      }),

    update: async (actor: Actor, uuids: readonly string[]): Promise<UpdateResult> => {
      // Runs before the transaction: published builds do not depend on the agents' rows.
      const asked = await read.targets(db, read.named(uuids.filter(isId)))
      const builds = new Map<string, Build | null>()
      for (const architecture of architecturesOf(asked)) builds.set(architecture, await latestPackage(architecture))
      const wanted = asked.filter((target) => impossible('update', target, builds) === null)
      refuseAgentless(asked)
      await refuseUpdate(
        changeRequests,
        actor,
        wanted.map((target) => target.agent_id),
        builds,
      )
      const asGated = new Set(wanted.map((target) => target.agent_id))
      const skipped = { current: [] as string[], notPublished: [] as string[], noReleaseKey: [] as string[] }
      const result = await over(uuids, async (tx, targets) => {
        refuseAgentless(targets)
        const published = targets.filter((target) => builds.get(target.architecture) != null)
        if (published.length === 0)
          throw new AppError('conflict', { detail: 'No agent build is published for these hosts.' })
        const able = published.filter(
          (target) => asGated.has(target.agent_id) && impossible('update', target, builds) === null,
        )
        const refusing = published.filter(
          (target) => hasNoReleaseKey(target) && impossible('update', target, builds) !== currentAgent,
        )
        if (able.length === 0)
          throw new AppError('conflict', {
            detail:
              refusing.length > 0
                ? 'These agents are up to date or accept no updates because they were built without a release key.'
                : 'These agents are already up to date.',
          })
        const specs = able.flatMap((target) => commandFor('update', target, { applyToPresent: false, builds }) ?? [])
        const { queued } = await commands.queue(tx, actor, specs)
        await recordOrder(audit, tx, actor, 'update', able)
        // Assigned, not appended, because the transaction may run again.
        skipped.noReleaseKey = idsOf(refusing)
        skipped.current = idsOf(published.filter((target) => !able.includes(target) && !refusing.includes(target)))
        skipped.notPublished = idsOf(targets.filter((target) => !published.includes(target)))
        return queued
      })
      return { ...result, ...skipped }
    },

    /** Throws and files a request if deleting this many hosts needs a second approver. */
    assertMayDelete: async (actor: Actor, uuids: readonly string[]): Promise<void> => {
      const ids = [...new Set(uuids)].filter(isId)
      const hosts = await read.existing(ids)
      await changeRequests.assertAlone<BulkRelease>(actor, { kind: 'release', hosts }, () => ({
        kind: 'bulk',
        change: { action: 'delete', uuids: ids },
      }))
    },
  }
}
