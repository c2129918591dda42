import type { Api } from '@portcullis/platform/console/lib/api.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useQuery } from '@tanstack/react-query'
import {
  type AnyOperation,
  getPeripheralModels,
  reloadUncommonPeripherals,
  reloadVulnerablePeripherals,
  spoofedIdentities,
  uncommonPeripherals,
  uniqueWhitelistViolation,
  vulnerablePeripherals,
} from '#features/contract.ts'
import type { FindingLine } from './FindingTable.tsx'
import type { InsightId } from './insight.ts'
import { attackToolLine, spoofedLine, uncommonLine, violationLine, vulnerableLine } from './panels.tsx'

/** The data of an insight. */
export interface Insight {
  lines: FindingLine[]
  /** Total number of rows, including rows that the server leaves out. */
  total: number
  /** When it was computed; null for live lists. */
  computedAt: string | null
  /** Number of active hosts; null if not counted. */
  population: number | null
  insufficientPopulation: boolean
}

type Call = Api['call']

interface Source {
  /** The request for the curl command. */
  operation: AnyOperation
  read: (call: Call, vendor: string, signal?: AbortSignal) => Promise<Insight>
  /** Computes it again. */
  reload: (call: Call, vendor: string) => Promise<Insight>
}

const listed = <T>(data: readonly T[], line: (one: T) => FindingLine, total = data.length): Insight => ({
  lines: data.map(line),
  total,
  computedAt: null,
  population: null,
  insufficientPopulation: false,
})

interface Computed<T> {
  computedAt: string
  population: number
  insufficientPopulation: boolean
  recordsTotal: number
  data: T[]
}

const computed = <T>(answer: Computed<T>, line: (one: T) => FindingLine): Insight => ({
  lines: answer.data.map(line),
  total: answer.recordsTotal,
  computedAt: answer.computedAt,
  population: answer.population,
  insufficientPopulation: answer.insufficientPopulation,
})

const asked = (vendor: string, signal?: AbortSignal) => ({
  query: vendor === '' ? {} : { vendor },
  ...(signal === undefined ? {} : { signal }),
})

const attackTools: Source['read'] = async (call, vendor, signal) => {
  const input = asked(vendor, signal)
  const query = { ...input.query, isKnownAttackTool: 'true', SortBy: 'severity_desc', PageSize: 1_000 }
  const { data, recordsFiltered } = await call(getPeripheralModels, { ...input, query })
  return listed(data, attackToolLine, recordsFiltered)
}
const violations: Source['read'] = async (call, vendor, signal) =>
  listed(await call(uniqueWhitelistViolation, asked(vendor, signal)), violationLine)
const spoofed: Source['read'] = async (call, vendor, signal) =>
  computed(await call(spoofedIdentities, asked(vendor, signal)), spoofedLine)

export const insightSources: Readonly<Record<InsightId, Source>> = {
  'attack-tools': { operation: getPeripheralModels, read: attackTools, reload: attackTools },
  violations: { operation: uniqueWhitelistViolation, read: violations, reload: violations },
  spoofed: { operation: spoofedIdentities, read: spoofed, reload: spoofed },
  vulnerable: {
    operation: vulnerablePeripherals,
    read: async (call, vendor, signal) =>
      computed(await call(vulnerablePeripherals, asked(vendor, signal)), vulnerableLine),
    reload: async (call, vendor) => {
      await call(reloadVulnerablePeripherals)
      return computed(await call(vulnerablePeripherals, asked(vendor)), vulnerableLine)
    },
  },
  uncommon: {
    operation: uncommonPeripherals,
    read: async (call, vendor, signal) =>
      computed(await call(uncommonPeripherals, asked(vendor, signal)), uncommonLine),
    reload: async (call, vendor) => {
      await call(reloadUncommonPeripherals)
      return computed(await call(uncommonPeripherals, asked(vendor)), uncommonLine)
    },
  },
}

// Insights change slowly; more frequent reads would not help.
const refreshGap = 15_000

/** Loads an insight, for all vendors or for one. */
export const useInsight = (id: InsightId, vendor: string) => {
  const { api, queries } = useServices()
  const key = ['insight', id, vendor]
  const insight = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => insightSources[id].read(api.call, vendor, signal),
  })
  useLiveRefresh(['peripherals'], refreshGap, () => void insight.refetch())
  return {
    data: insight.data,
    failure: insight.error,
    retry: () => void insight.refetch(),
    reload: async () => {
      queries.setQueryData(key, await insightSources[id].reload(api.call, vendor))
    },
  }
}
