import type { AnyOperation } from '../../contract/operation.ts'
import { addressOf, type CallInput } from './api.ts'

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Returns a call as a shell command. The token is a variable: a copied command must not contain a session. */
export const curlOf = <O extends AnyOperation>(
  operation: O,
  input: Partial<CallInput<O>> = {},
  origin = window.location.origin,
): string => {
  const parts = ['curl -sS']
  if (operation.method !== 'GET') parts.push(`-X ${operation.method}`)
  parts.push('-H "Authorization: Bearer $PORTCULLIS_TOKEN"')
  if (input.file !== undefined) parts.push(`-F ${quoted(`file=@${input.file.name ?? 'file'}`)}`)
  else if (input.body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `--data ${quoted(JSON.stringify(input.body))}`)
  }
  parts.push(quoted(`${origin}${addressOf(operation, input)}`))
  return parts.join(' ')
}
