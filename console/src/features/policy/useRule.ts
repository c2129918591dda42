import { listPolicyGrants, listPolicyRules, type PolicyRuleResource } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'

// One answer holds them all in any fleet seen so far; what lies behind is reached by filtering.
const wholeList = 10_000

/**
 * One rule or grant by its id: the one the list holds already, else read from the server, so that a link to a rule
 * works whatever the list shows.
 */
export const useRule = (id: string | null, isGrant: boolean) => {
  const { api, queries } = useServices()
  return useQuery({
    queryKey: ['policy-rule', isGrant, id],
    queryFn: async ({ signal }): Promise<PolicyRuleResource | null> => {
      const { data } = await api.call(isGrant ? listPolicyGrants : listPolicyRules, {
        query: { PageSize: wholeList },
        signal,
      })
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
