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
        .then(({ accepted }) => done(`${counted(accepted.length)} due now.`), tellFailure),
    /** Lets the default password be sent to a computer. */
    confirmHost: (computerName: string) =>
      confirm({
        title: 'Confirm a computer',
        names: [computerName],
        kind: ['computer', 'computers'],
        consequence: 'the worker sends it the default user and password. Whoever runs it can keep them.',
        action: 'Confirm',
        run: async () => {
          await api.call(updateConnection, { body: { computerName, isConfirmed: true } })
          await done('Confirmed; it is polled anew.')
        },
      }),
    /** Pins the host key of a computer after the operator has compared it. */
    confirmKey: (computerName: string, hostKeyFingerprint: string) =>
      confirm({
        title: 'Confirm host key',
        names: [computerName],
        kind: ['computer', 'computers'],
        consequence: `${hostKeyFingerprint} is pinned. From now on the password is sent to any computer with this key.`,
        action: 'Confirm host key',
        run: async () => {
          const { confirmed } = await api.call(confirmHostKeys, {
            body: { hosts: [{ computerName, hostKeyFingerprint }] },
          })
          await done(
            confirmed.length === 1
              ? 'Host key confirmed. The computer is polled again.'
              : 'Not confirmed: the computer has presented another key since.',
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
        title: 'Stop polling',
        names,
        kind: ['computer', 'computers'],
        consequence: 'nothing new is learnt of their devices until they are polled again. Their details stay.',
        action: 'Stop polling',
        run: async () => {
          const { accepted } = await api.call(unregisterConnections, { body: { computerNames: names } })
          await done(`${counted(accepted.length)} not polled any more.`)
        },
      }),
    remove: (names: string[]) =>
      confirm({
        title: 'Delete computers',
        names,
        kind: ['computer', 'computers'],
        consequence:
          'their credentials and pinned host keys are forgotten. What is known of the hosts stays among the agents until it is deleted there.',
        action: 'Delete',
        run: async () => {
          const { accepted } = await api.call(deleteConnections, { body: names })
          await done(`${counted(accepted.length)} deleted.`)
        },
      }),
  }
}
