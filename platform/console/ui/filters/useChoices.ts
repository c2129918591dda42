import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Choices } from '../../../contract/filters.ts'
import { useServices } from '../../lib/services.tsx'

/** Reads the choices of a filter. */
export const useChoices = (kind: Choices, text: string) => {
  const { filterValues } = useServices()
  return useQuery({
    queryKey: ['choices', kind, text],
    queryFn: () => filterValues.choices(kind, text),
    placeholderData: keepPreviousData,
  })
}
