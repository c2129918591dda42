import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { type QueryClient, useQueries, useQuery } from '@tanstack/react-query'
import { getConfigItemsByPrefix, listQuarantines, type NacSystem, nacSystems } from '#features/contract.ts'

// Milliseconds between refreshes of the counts.
const refreshGap = 10_000

/**
 * Returns the enabled systems that can isolate hosts, with their configuration. Readers without permission for the
 * configuration get none.
 */
export const useNacSystems = () => {
  const { api, session } = useServices()
  const enabled = session.may('config:read')
  const groups = useQueries({
    queries: nacSystems.map((system) => {
      const prefix = `${system.toUpperCase()}_`
      return {
        // The key of the settings, so that a change there shows here at once.
        queryKey: ['config', prefix],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          api.call(getConfigItemsByPrefix, { params: { prefixes: prefix }, signal }),
        enabled,
      }
    }),
  })
  const inUse: { system: NacSystem; policy: string; hours: number }[] = []
  for (const [index, system] of nacSystems.entries()) {
    const items = groups[index]?.data
    const of = (name: string): string => items?.[`${system.toUpperCase()}_${name}`] ?? ''
    if (of('ENABLED') === 'true')
      inUse.push({
        system,
        policy: of(system === 'ise' ? 'ANC_POLICY' : 'PROPERTY'),
        hours: Number(of('QUARANTINE_HOURS')),
      })
  }
  return inUse
}

const countsKey = ['quarantine-counts']

/**
 * Returns whether the console shows quarantines, because a system is enabled or quarantines exist, and how many wait for
 * approval.
 */
export const useNac = (isReady = true) => {
  const { api, session } = useServices()
  const enabled = isReady && session.may('fleet:read')
  const inUse = useNacSystems()
  const counts = useQuery({
    queryKey: countsKey,
    queryFn: async ({ signal }) => {
      const { recordsTotal, recordsFiltered } = await api.call(listQuarantines, {
        query: { awaitsApproval: 'true', PageSize: 1 },
        signal,
      })
      return { all: recordsTotal, waiting: recordsFiltered }
    },
    enabled,
  })
  return {
    inUse,
    isShown: enabled && (inUse.length > 0 || (counts.data?.all ?? 0) > 0),
    waiting: counts.data?.waiting ?? 0,
  }
}

/** Returns the same for the frame, and keeps the counts fresh. */
export const useLiveNac = (isReady: boolean) => {
  const { queries } = useServices()
  useLiveRefresh(['agents'], refreshGap, () => void queries.invalidateQueries({ queryKey: countsKey }))
  return useNac(isReady)
}

const changing = ['rows', 'quarantine', 'quarantine-counts', 'quarantines-of', 'quarantines']

/** Refreshes what a change of quarantines may have changed. */
export const rereadQuarantines = (queries: QueryClient): Promise<unknown> =>
  Promise.all(changing.map((key) => queries.invalidateQueries({ queryKey: [key] })))
