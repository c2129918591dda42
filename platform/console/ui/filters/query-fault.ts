import type { QueryFault } from '../../../contract/query.ts'

/** Number of characters shown on each side of a fault. */
const shown = 40

/** Returns the text around an index, and a line with a mark under the index. */
export const pointerLines = (text: string, at: number): [string, string] => {
  const from = Math.max(0, at - shown)
  const start = from === 0 ? '' : '…'
  return [
    `${start}${text.slice(from, at + shown)}${text.length > at + shown ? '…' : ''}`,
    `${' '.repeat(start.length + at - from)}^`,
  ]
}

/** Returns the fault that the server found in a query, or null. */
export const faultIn = (fields: readonly { field: string; message: string }[]): QueryFault | null => {
  const given = fields.find(({ field }) => field.toLowerCase() === 'query.query')
  if (given === undefined) return null
  const [, place = '1', message = given.message] = /^at character (\d+): (.*)$/s.exec(given.message) ?? []
  return { at: Number(place) - 1, message }
}
