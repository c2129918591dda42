import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import type { QueryClient } from '@tanstack/react-query'
import {
  confirmHostKeys,
  deleteConnections,
  registerConnections,
  unregisterConnections,
  updateConnection,
} from '#features/contract.ts'
import { strings } from './strings.ts'

const changing = ['rows', 'connection', 'connection-status', 'connections-running', 'connection-causes', 'worker']

/** Refreshes what a change of connections may have changed. */
export const rereadConnections = (queries: QueryClient): Promise<unknown> =>
  Promise.all(changing.map((key) => queries.invalidateQueries({ queryKey: [key] })))

/** Returns the actions for agentless hosts. `onRemoved` runs after hosts were deleted. */
export const useConnectionActions = (onRemoved?: () => void) => {
  const { api, queries } = useServices()
  const done = async (message: string) => {
    tell(message)
    await rereadConnections(queries)
  }
  return {
    /** Polls hosts now and on schedule. */
    poll: (computerNames: string[]) =>
      void api
        .call(registerConnections, { body: { computerNames } })
        .then(({ accepted }) => done(strings.pollStarted({ count: accepted.length })), tellFailure),
    /** Allows sending the default password to a host. */
    confirmHost: (computerName: string) =>
      confirm({
        title: strings.confirm,
        names: [computerName],
        kind: strings.hostCount,
        consequence: strings.confirmConsequence,
        run: async () => {
          await api.call(updateConnection, { body: { computerName, isConfirmed: true } })
          await done(strings.confirmed)
        },
      }),
    /** Confirms the host key of a host after the operator has compared it. */
    confirmKey: (computerName: string, hostKeyFingerprint: string) =>
      confirm({
        title: strings.confirmKey,
        names: [computerName],
        kind: strings.hostCount,
        consequence: strings.confirmKeyConsequence({ key: hostKeyFingerprint }),
        run: async () => {
          const { confirmed } = await api.call(confirmHostKeys, {
            body: { hosts: [{ computerName, hostKeyFingerprint }] },
          })
          await done(confirmed.length === 1 ? strings.keyConfirmed : strings.keyNotPinned)
        },
      }),
    /** Confirms all hosts that presented a key on this list. */
    compareKeys: async (list: string) => {
      const { confirmed, different, notShown, unknown, unreadableLines } = await api.call(confirmHostKeys, {
        body: { list },
      })
      await rereadConnections(queries)
      return { confirmed, different, notShown, unknown, unreadableLines }
    },
    stop: (names: string[]) =>
      confirm({
        title: strings.stopPolling,
        names,
        kind: strings.hostCount,
        consequence: strings.stopPollingConsequence,
        run: async () => {
          const { accepted } = await api.call(unregisterConnections, { body: { computerNames: names } })
          await done(strings.pollStopped({ count: accepted.length }))
        },
      }),
    remove: (names: string[]) =>
      confirm({
        title: strings.deleteHosts,
        names,
        kind: strings.hostCount,
        consequence: strings.deleteConsequence,
        action: strings.delete,
        run: async () => {
          const { accepted } = await api.call(deleteConnections, { body: names })
          onRemoved?.()
          await done(strings.deleted({ count: accepted.length }))
        },
      }),
  }
}
