import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useQuery } from '@tanstack/react-query'
import { type Connection, connectionDetailsStatus, listConnections } from '#features/contract.ts'

// The filter also matches longer names, so the exact one is found among this many.
const maxMatches = 1_000

const sameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** Returns the connection with its current host keys, which a poll can change while the drawer is open. */
export const useHostKeys = (name: string): Connection | undefined => {
  const { api } = useServices()
  return (
    useQuery({
      queryKey: ['connection', name, 'host keys'],
      queryFn: async ({ signal }) => {
        const query = { ComputerName: name, PageSize: maxMatches }
        const { data } = await api.call(listConnections, { query, signal })
        return data.find((one) => sameName(one.computerName, name)) ?? null
      },
      refetchInterval: 3_000,
    }).data ?? undefined
  )
}

/** Reads an agentless host: its details, null if it does not exist, and its last poll every two seconds. */
export const useConnection = (name: string) => {
  const { api } = useServices()
  const query = { ComputerName: name, PageSize: maxMatches }
  const connection = useQuery({
    queryKey: ['connection', name],
    queryFn: async ({ signal }) =>
      (await api.call(listConnections, { query, signal })).data.find((one) => sameName(one.computerName, name)) ?? null,
    // A form starts with it, so outdated values must not return.
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
