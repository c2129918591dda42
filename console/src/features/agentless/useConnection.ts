import { connectionDetailsStatus, listConnections } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'

// The filter finds the name inside longer ones, too; so many of them are looked through for the exact one.
const lookedThrough = 1_000

const sameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** The unconfirmed host key of a computer. It is fetched again because a poll can report it while the drawer is open. */
export const useShownHostKey = (name: string): string | undefined => {
  const { api } = useServices()
  return useQuery({
    queryKey: ['connection', name, 'shown host key'],
    queryFn: async ({ signal }) => {
      const query = { ComputerName: name, PageSize: lookedThrough }
      const { data } = await api.call(listConnections, { query, signal })
      return data.find((one) => sameName(one.computerName, name))?.shownHostKeyFingerprint ?? ''
    },
    refetchInterval: 3_000,
  }).data
}

/** One polled computer: its details, null when there is none, and its last run, which is read every two seconds. */
export const useConnection = (name: string) => {
  const { api } = useServices()
  const query = { ComputerName: name, PageSize: lookedThrough }
  const connection = useQuery({
    queryKey: ['connection', name],
    queryFn: async ({ signal }) =>
      (await api.call(listConnections, { query, signal })).data.find((one) => sameName(one.computerName, name)) ?? null,
    // A form starts with it: what was true when it was last open must not come back.
    gcTime: 0,
  })
  const status = useQuery({
    queryKey: ['connection-status', name],
    queryFn: async ({ signal }) =>
      (await api.call(connectionDetailsStatus, { query, signal })).data.find((one) =>
        sameName(one.computerName, name),
      ) ?? null,
    refetchInterval: 2_000,
  })
  return { connection, status }
}
