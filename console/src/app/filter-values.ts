import { getHashtags, suggestFilterValues } from '@portcullis/features/contract.ts'
import type { Api } from '@portcullis/platform/console/lib/api.ts'
import type { FilterValues } from '@portcullis/platform/console/lib/filter-values.ts'

export const createFilterValues = (api: Pick<Api, 'call'>): FilterValues => ({
  tags: async () => (await api.call(getHashtags)).map(({ name }) => name),
  suggest: async (kind, text) => (await api.call(suggestFilterValues, { query: { kind, text } })).data,
  choices: async (kind, text) => (await import('./filter-choices.ts')).choices[kind](api, text.trim()),
})
