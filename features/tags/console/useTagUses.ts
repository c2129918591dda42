import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useQuery } from '@tanstack/react-query'
import { getConfigItemsByName, listPolicyRules, listRollouts, type Tag } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Rules, rollouts and settings that use a tag. */
export interface TagUses {
  /** Texts of the first hundred rules for this tag. */
  rules: readonly string[]
  rulesTotal: number
  /** Active rollouts with a ring for this tag. */
  rollouts: readonly string[]
  /** Systems that do not quarantine hosts with this tag. */
  exclusions: readonly string[]
}

const most = 100
const exclusions = { ISE_EXCLUDE_TAGS: strings.ciscoIse, CACT_EXCLUDE_TAGS: strings.forescoutCounteract } as const

const isSame = (one: string, other: string) => one.trim().toLowerCase() === other.toLowerCase()

/** Reads the uses of a tag that the account may read. */
export const useTagUses = ({ name }: Tag) => {
  const { api, session } = useServices()
  return useQuery({
    queryKey: ['tag-uses', name],
    gcTime: 0,
    staleTime: 0,
    queryFn: async ({ signal }): Promise<TagUses> => {
      const [rules, rollouts, config] = await Promise.all([
        api.call(listPolicyRules, { query: { tag: name, PageSize: most }, signal }),
        api.call(listRollouts, { signal }),
        session.may('config:read')
          ? api.call(getConfigItemsByName, { params: { names: Object.keys(exclusions).join(',') }, signal })
          : {},
      ])
      const settings: Readonly<Record<string, string>> = config
      const inForce = rules.data.filter(({ state }) => state !== 'Tag deleted')
      return {
        rules: inForce.map(({ sentence }) => sentence),
        rulesTotal: rules.recordsFiltered - (rules.data.length - inForce.length),
        rollouts: rollouts.data
          .filter(
            ({ endedAt, rings }) => endedAt === null && rings.some(({ tags }) => tags.some((tag) => isSame(tag, name))),
          )
          .map((rollout) => rollout.name),
        exclusions: Object.entries(exclusions).flatMap(([item, system]) =>
          (settings[item] ?? '').split(',').some((tag) => isSame(tag, name)) ? [system] : [],
        ),
      }
    },
  })
}
