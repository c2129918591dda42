import { createHash } from 'node:crypto'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { type FieldError, maxTagLength } from '#features/contract.ts'

/** A tag's stored name, and its folded form, which is unique. */
export interface TagName {
  name: string
  folded: string
}

const refused = /[,;#\p{Cc}]/u

/** Returns the fault of a name, or null. Ignores surrounding spaces. */
export const tagNameFault = (given: string): string | null => {
  const name = given.trim()
  if (name === '') return 'must have at least one character'
  if ([...name].length > maxTagLength) return `must have at most ${maxTagLength} characters`
  return refused.test(name) ? 'must not contain a comma, semicolon, # or control character' : null
}

/** Returns valid names in their stored form, without duplicates, ordered by folded form. */
export const tagNames = (names: readonly string[]): TagName[] => {
  const byFolded = new Map<string, string>()
  for (const given of names) {
    const name = given.trim().normalize('NFC')
    const folded = fold(name)
    if (!byFolded.has(folded)) byFolded.set(folded, name)
  }
  return [...byFolded].map(([folded, name]) => ({ name, folded })).sort((a, b) => (a.folded < b.folded ? -1 : 1))
}

/** Does the same as `tagNames`, and refuses invalid names with 400 and their positions. */
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

/** Colours that are readable in both themes of the console, with the text colour next to them. */
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

/** Returns the color of a tag, derived from its folded name, so that it is the same on every server. */
export const tagColor = (folded: string): string =>
  palette[createHash('sha256').update(folded).digest().readUInt32BE(0) % palette.length] ?? palette[0]
