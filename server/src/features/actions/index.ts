import {
  agentsConfiguration,
  approveChangeRequest,
  deleteAgentsCommands,
  fetchAgentsDebugLogs,
  listChangeRequests,
  type PolicySettings,
  previewBulk,
  rejectChangeRequest,
  runBulk,
  updateAgents,
} from '@portcullis/contract'
import type { Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Keys } from '#platform/keys.ts'
import { createActionsRead } from './actions.read.ts'
import { type BulkDeps, createBulk } from './bulk.service.ts'
import {
  type Change,
  type ChangeRequestsDeps,
  createChangeRequests,
  type RevertedRollout,
} from './change-requests.service.ts'
import { type ConfigurationDeps, createConfiguration } from './configuration.service.ts'
import { createOnIds, type OnIdsDeps } from './on-ids.service.ts'

type Given = Omit<BulkDeps & ConfigurationDeps & OnIdsDeps, 'read' | 'requests'> &
  Omit<ChangeRequestsDeps, 'sealKey'> & {
    keys: Pick<Keys, 'derive'>
    /** Saves settings of the policy that a second person approved. */
    saveSettings(tx: Tx, actor: Actor, settings: PolicySettings): Promise<unknown>
    /** Reverts a rollout that a second person approved to be reverted. */
    revertRollout(tx: Tx, actor: Actor, rollout: RevertedRollout): Promise<void>
  }

/** What people order of hosts, one or ten thousand: modes, approvals, updates, logs, removal; and who has to agree. */
export const actionsFeature = (app: HttpApp, given: Given) => {
  const read = createActionsRead(given.db)
  const requests = createChangeRequests({ ...given, sealKey: given.keys.derive('change-requests') })
  const deps = { ...given, read, requests }
  const bulk = createBulk(deps)
  const configuration = createConfiguration(deps)
  const onIds = createOnIds(deps)

  const carryOut = async (tx: Tx, actor: Actor, change: Change): Promise<void> => {
    if (change.kind === 'configuration') await configuration.carryOut(tx, actor, change.items)
    else if (change.kind === 'settings') await given.saveSettings(tx, actor, change.settings)
    else if (change.kind === 'revert') await given.revertRollout(tx, actor, change.rollout)
    else await bulk.enqueue(tx, actor, { action: change.action, applyToPresent: false, uuids: change.uuids })
  }

  app.register(agentsConfiguration, ({ actor, body }) => configuration.configure(actor, body))
  app.register(deleteAgentsCommands, ({ actor, body }) => onIds.cancelCommands(actor, body ?? []))
  app.register(updateAgents, ({ actor, body }) => onIds.update(actor, body ?? []))
  app.register(fetchAgentsDebugLogs, ({ actor, body }) => onIds.collectLogs(actor, body ?? []))
  app.register(previewBulk, ({ actor, body }) => bulk.preview(actor, body))
  app.register(runBulk, ({ actor, body }) => bulk.run(actor, body))
  app.register(listChangeRequests, () => requests.list())
  app.register(approveChangeRequest, ({ actor, params }) => requests.approve(actor, params.id, carryOut))
  app.register(rejectChangeRequest, ({ actor, params }) => requests.reject(actor, params.id))
  return {
    assertMayDelete: onIds.assertMayDelete,
    refuseSettings: requests.refuseSettings,
    /** Whether one person may free so many hosts alone: null, and it is noted; else the limit. */
    release: requests.release,
    refuseRevert: (actor: Actor, limit: number, rollout: RevertedRollout): Promise<never> =>
      requests.refuse(actor, 'free', rollout.hosts, limit, { kind: 'revert', rollout }),
  }
}
