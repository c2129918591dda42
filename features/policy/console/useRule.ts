import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useQuery } from '@tanstack/react-query'
import { listPolicyRules, type PolicyRuleResource, ruleLevels } from '#features/contract.ts'

// Large enough for all rules of a fleet in one response.
const wholeList = 10_000

/**
 * Reads a rule or grant by its id, from the loaded list or from the server, so that links work with any filter. An id in a
 * decision can belong to either.
 */
export const useRule = (id: string | null) => {
  const { api, queries } = useServices()
  return useQuery({
    queryKey: ['policy-rule', id],
    queryFn: async ({ signal }): Promise<PolicyRuleResource | null> => {
      const query = { level: ruleLevels.join(','), PageSize: wholeList }
      const { data } = await api.call(listPolicyRules, { query, signal })
      return data.find((rule) => rule.id === id) ?? null
    },
    enabled: id !== null && id !== 'new',
    initialData: () =>
      queries
        .getQueriesData<{ data: PolicyRuleResource[] }>({ queryKey: ['rows'] })
        .flatMap(([, page]) => page?.data ?? [])
        .find((row) => row.id === id),
  })
}
