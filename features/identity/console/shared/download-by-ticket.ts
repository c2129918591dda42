import { type Api, addressOf, type CallInput } from '@portcullis/platform/console/lib/api.ts'
import { follow } from '@portcullis/platform/console/ui/download.ts'
import { type AnyOperation, createTicket } from '#features/contract.ts'

/** Lets the browser download a file directly with a single-use ticket, so that the page does not hold it in memory. */
export const downloadByTicket = async <O extends AnyOperation>(
  api: Pick<Api, 'call'>,
  operation: O,
  input: Pick<CallInput<O>, 'params'>,
  name: string,
): Promise<void> => {
  const { ticket } = await api.call(createTicket)
  follow(addressOf(operation, { ...input, query: { _ticket: ticket } }), name)
}
