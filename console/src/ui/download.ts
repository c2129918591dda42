import { type AnyOperation, createTicket } from '@portcullis/contract'
import { type Api, addressOf, type CallInput } from '../lib/api.ts'

const follow = (href: string, name: string): void => {
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
}

/** Lets the browser fetch a file itself, by a ticket for this one download: however long it is, nothing of it is held here. */
export const downloadByTicket = async <O extends AnyOperation>(
  api: Pick<Api, 'call'>,
  operation: O,
  input: Pick<CallInput<O>, 'params'>,
  name: string,
): Promise<void> => {
  const { ticket } = await api.call(createTicket)
  follow(addressOf(operation, { ...input, query: { _ticket: ticket } }), name)
}

/** Hands a file to the browser under its name. */
export const saveFile = ({ blob, name }: { blob: Blob; name: string }): void => {
  const url = URL.createObjectURL(blob)
  follow(url, name)
  // The download has its own hold on the bytes once the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
