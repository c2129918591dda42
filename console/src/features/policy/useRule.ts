import { listPolicyGrants, listPolicyRules, type PolicyRuleResource } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'

// One answer holds them all in any fleet seen so far; what lies behind is reached by filtering.
const wholeList = 10_000

/**
 * One rule or grant by its id: the one the list holds already, else read from the server, so that a link to a rule
 * works whatever the list shows. A decision names rule and grant alike, so both are looked through.
 */
export const useRule = (id: string | null) => {
  const { api, queries } = useServices()
  return useQuery({
    queryKey: ['policy-rule', id],
    queryFn: async ({ signal }): Promise<PolicyRuleResource | null> => {
      for (const list of [listPolicyRules, listPolicyGrants]) {
        const { data } = await api.call(list, { query: { PageSize: wholeList }, signal })
        const found = data.find((rule) => rule.id === id)
        if (found !== undefined) return found
      }
      return null
    },
    enabled: id !== null && id !== 'new',
    initialData: () =>
      queries
        .getQueriesData<{ data: PolicyRuleResource[] }>({ queryKey: ['rows'] })
        .flatMap(([, page]) => page?.data ?? [])
        .find((row) => row.id === id),
  })
}
