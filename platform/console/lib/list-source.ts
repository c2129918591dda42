import type { AnyOperation, ResponseOf } from '../../contract/operation.ts'
import type { Api, CallInput } from './api.ts'

/** Row type of a list operation. */
export type RowOf<O> = ResponseOf<O> extends { data: (infer Row)[] } ? Row : never

interface AnyPage<Row> {
  recordsTotal: number
  recordsFiltered: number
  data: Row[]
}

/**
 * Returns the source of a table's rows. The query contains texts by name, because it comes from the URL; the server
 * refuses unknown names.
 */
export const listSource = <O extends AnyOperation>(
  api: Pick<Api, 'call'>,
  operation: O,
  query: Record<string, string>,
  idOf: (row: RowOf<O>) => string,
  params?: CallInput<O>['params'],
) => ({
  key: [operation.id, query, params ?? null] as const,
  idOf,
  load: async (page: number, size: number, signal?: AbortSignal): Promise<AnyPage<RowOf<O>>> =>
    (await api.call(operation, {
      query: { ...query, PageNumber: page, PageSize: size },
      ...(params === undefined ? {} : { params }),
      ...(signal === undefined ? {} : { signal }),
    } as unknown as CallInput<O>)) as unknown as AnyPage<RowOf<O>>,
})
