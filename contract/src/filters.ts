/**
 * Filters of lists as schemas: the kind stands beside the shape (`x-filter`), so that the server compiles it, OpenAPI
 * documents it and the console draws it from one place. All are optional text in the query; an empty value is as if absent.
 */
import { Type } from 'typebox'

export type FilterKind = 'text' | 'enum' | 'boolean' | 'number' | 'time' | 'tags'

const filter = (kind: FilterKind, description: string, extra: Record<string, unknown> = {}) =>
  Type.Optional(Type.String({ maxLength: 2048, description, 'x-filter': kind, ...extra }))

/** Contains, ignoring case; `%` and `_` are plain characters. */
export const textFilter = (what: string) => filter('text', `${what}: contains, ignoring case.`)

/** Defines the vendor filter of every list. */
export const vendorFilter = (what: string) =>
  textFilter(`${what}, by the vendor name of the model or the manufacturer string of one of its devices`)

/** Any of a comma list of the values, any case. */
export const enumFilter = (what: string, values: readonly string[]) =>
  filter('enum', `${what}: comma list of ${values.join(', ')} = any of.`, { 'x-values': values })

/** `true` or `false`, any case. */
export const booleanFilter = (what: string) => filter('boolean', `${what}: True or False.`)

/** A number, or `>=n`, `<=n`, or a comma list = any of. */
export const numberFilter = (what: string) => filter('number', `${what}: n, >=n, <=n, or a comma list = any of.`)

/** An instant, or `from..to` with either end open. */
export const timeFilter = (what: string) =>
  filter('time', `${what}: an instant (as coarse as it is written), or from..to with either end open.`)

/** Any of a comma list of tag names. */
export const tagsFilter = (what: string) => filter('tags', `${what}: comma list of tags = any of.`)
