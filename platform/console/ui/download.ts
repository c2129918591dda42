import { createTicket } from '@portcullis/contract'
import type { AnyOperation } from '../../contract/operation.ts'
import { type Api, addressOf, type CallInput } from '../lib/api.ts'

const follow = (href: string, name: string): void => {
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
}

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

/** Saves a file under its name. */
export const saveFile = ({ blob, name }: { blob: Blob; name: string }): void => {
  const url = URL.createObjectURL(blob)
  follow(url, name)
  // The download keeps its own reference to the data.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
