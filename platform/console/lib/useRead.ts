import { type QueryKey, type UseQueryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { AnyOperation, ResponseOf } from '../../contract/operation.ts'
import type { CallInput } from './api.ts'
import { useServices } from './services.tsx'

type Options<O> = Omit<UseQueryOptions<ResponseOf<O>>, 'queryKey' | 'queryFn' | 'select'>
type Inputs<O> =
  Record<never, unknown> extends CallInput<O>
    ? [input?: Omit<CallInput<O>, 'signal'> & Options<O>]
    : [input: Omit<CallInput<O>, 'signal'> & Options<O>]

/** Reads an operation of the contract. Changes invalidate the data by its `queryKey`. */
export const useRead = <O extends AnyOperation>(
  queryKey: QueryKey,
  operation: O,
  ...[input]: Inputs<O>
): UseQueryResult<ResponseOf<O>> => {
  const { api } = useServices()
  const { params, query, body, ...options } = (input ?? {}) as CallInput<AnyOperation> & Options<O>
  return useQuery({
    ...options,
    queryKey,
    queryFn: async ({ signal }) =>
      (await api.call<AnyOperation>(operation, {
        params,
        query,
        body,
        signal,
      } as CallInput<AnyOperation>)) as ResponseOf<O>,
  })
}
