import {
  confirmHostKeys,
  deleteConnections,
  registerConnections,
  unregisterConnections,
  updateConnection,
} from '@portcullis/contract'
import type { QueryClient } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { tell, tellFailure } from '../../ui/tell.ts'
import { strings } from './strings.ts'

const counted = (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'computer' : 'computers'}`

const changing = ['rows', 'connection', 'connection-status', 'connections-running', 'connection-causes', 'worker']

/** Reads again what a change of connections may have changed. */
export const rereadConnections = (queries: QueryClient): Promise<unknown> =>
  Promise.all(changing.map((key) => queries.invalidateQueries({ queryKey: [key] })))

/** What can be done with polled computers, one or many. */
export const useConnectionActions = (onDone: () => void) => {
  const { api, queries } = useServices()
  const done = async (message: string) => {
    tell(message)
    onDone()
    await rereadConnections(queries)
  }
  return {
    /** Polls them now, and from now on. */
    poll: (computerNames: string[]) =>
      void api
        .call(registerConnections, { body: { computerNames } })
        .then(({ accepted }) => done(strings.acceptedDueNow({ accepted: counted(accepted.length) })), tellFailure),
    /** Lets the default password be sent to a computer. */
    confirmHost: (computerName: string) =>
      confirm({
        title: strings.confirmAComputer,
        names: [computerName],
        kind: ['computer', 'computers'],
        consequence: strings.theWorkerSendsItTheDefault,
        action: strings.confirm2,
        run: async () => {
          await api.call(updateConnection, { body: { computerName, isConfirmed: true } })
          await done(strings.confirmedItIsPolledAnew)
        },
      }),
    /** Pins the host key of a computer after the operator has compared it. */
    confirmKey: (computerName: string, hostKeyFingerprint: string) =>
      confirm({
        title: strings.confirmHostKey2,
        names: [computerName],
        kind: ['computer', 'computers'],
        consequence: strings.hostkeyfingerprintIsPinnedFromNowOn({ hostKeyFingerprint }),
        action: strings.confirmHostKey2,
        run: async () => {
          const { confirmed } = await api.call(confirmHostKeys, {
            body: { hosts: [{ computerName, hostKeyFingerprint }] },
          })
          await done(
            confirmed.length === 1
              ? strings.hostKeyConfirmedTheComputerIs
              : strings.notConfirmedTheComputerHasPresented,
          )
        },
      }),
    /** Confirms all computers that presented a key on this list. */
    compareKeys: async (list: string) => {
      const { confirmed, different, notShown, unknown, unreadableLines } = await api.call(confirmHostKeys, {
        body: { list },
      })
      await rereadConnections(queries)
      return { confirmed, different, notShown, unknown, unreadableLines }
    },
    stop: (names: string[]) =>
      confirm({
        title: strings.stopPolling2,
        names,
        kind: ['computer', 'computers'],
        consequence: strings.nothingNewIsLearntOfTheir,
        action: strings.stopPolling2,
        run: async () => {
          const { accepted } = await api.call(unregisterConnections, { body: { computerNames: names } })
          await done(strings.acceptedNotPolledAnyMore({ accepted: counted(accepted.length) }))
        },
      }),
    remove: (names: string[]) =>
      confirm({
        title: strings.deleteComputers,
        names,
        kind: ['computer', 'computers'],
        consequence: strings.theirCredentialsAndPinnedHostKeys,
        action: strings.deleteText2,
        run: async () => {
          const { accepted } = await api.call(deleteConnections, { body: names })
          await done(strings.acceptedDeleted({ accepted: counted(accepted.length) }))
        },
      }),
  }
}
