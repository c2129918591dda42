import { createHash } from 'node:crypto'
import { type FieldError, maxTagLength } from '@portcullis/contract'
import { AppError } from '#platform/app-error.ts'
import { fold } from '#platform/list/columns.ts'

/** A tag's name in the form it is stored in, and the form it is unique by. */
export interface TagName {
  name: string
  folded: string
}

const refused = /[,;#\p{Cc}]/u

/** What is wrong with a name; null when it is one. Outer blanks do not count. */
export const tagNameFault = (given: string): string | null => {
  const name = given.trim()
  if (name === '') return 'must have at least one character'
  if ([...name].length > maxTagLength) return `must have at most ${maxTagLength} characters`
  return refused.test(name) ? 'must not hold a comma, semicolon, # or control character' : null
}

/** Names as they are stored, each once, in the order of their folded form; `names` have no fault. */
export const tagNames = (names: readonly string[]): TagName[] => {
  const byFolded = new Map<string, string>()
  for (const given of names) {
    const name = given.trim().normalize('NFC')
    const folded = fold(name)
    if (!byFolded.has(folded)) byFolded.set(folded, name)
  }
  return [...byFolded].map(([folded, name]) => ({ name, folded })).sort((a, b) => (a.folded < b.folded ? -1 : 1))
}

/** As `tagNames`; faults are a 400 that names each by its place. */
export const requireTagNames = (field: string, names: readonly string[]): TagName[] => {
  const errors: FieldError[] = []
  names.forEach((name, i) => {
    const message = tagNameFault(name)
    if (message !== null && errors.length < 20) errors.push({ field: `${field}[${i}]`, message })
  })
  const [first] = errors
  if (first !== undefined)
    throw new AppError('validation_failed', { detail: `${first.field} ${first.message}.` }, { errors })
  return tagNames(names)
}

/** Readable on both themes of the console with the text colour that stands beside them. */
const palette = [
  '#e03131',
  '#c2255c',
  '#9c36b5',
  '#6741d9',
  '#3b5bdb',
  '#1971c2',
  '#0c8599',
  '#099268',
  '#2f9e44',
  '#66a80f',
  '#f08c00',
  '#e8590c',
] as const

/** Color of a tag: follows from its folded name, so that the same tag looks alike on every server. */
export const tagColor = (folded: string): string =>
  palette[createHash('sha256').update(folded).digest().readUInt32BE(0) % palette.length] as string
