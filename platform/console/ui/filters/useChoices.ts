import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Choices } from '../../../contract/filters.ts'
import { useServices } from '../../lib/services.tsx'

/** Reads what a filter offers by name. */
export const useChoices = (kind: Choices, text: string) => {
  const { filterValues } = useServices()
  return useQuery({
    queryKey: ['choices', kind, text],
    queryFn: () => filterValues.choices(kind, text),
    placeholderData: keepPreviousData,
  })
}
