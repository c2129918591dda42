/**
 * Defines the filters of lists as schemas. `x-filter` gives the kind, which the server, OpenAPI and the console read. All
 * filters are optional query parameters; an empty value is the same as an absent one.
 */
import { Type } from 'typebox'

export type FilterKind = 'text' | 'enum' | 'boolean' | 'number' | 'time' | 'tags'

/** Formats the name of a field as code, and other text in lower case. */
const nameOf = (what: string): string =>
  /^[a-z]\w*$/.test(what) ? `\`${what}\`` : `${what.charAt(0).toLowerCase()}${what.slice(1)}`

const filter = (kind: FilterKind, description: string, extra: Record<string, unknown> = {}) =>
  Type.Optional(Type.String({ maxLength: 2048, description, 'x-filter': kind, ...extra }))

/** Defines a filter for rows that contain a text, ignoring case. `%` and `_` have no special meaning. */
export const textFilter = (what: string) =>
  filter('text', `Filters by ${nameOf(what)}: any part of the value, ignoring case.`)

/** Defines the vendor filter of every list. */
export const vendorFilter = (what: string) =>
  textFilter(`${what} (vendor name of the model, or manufacturer string of one of its devices)`)

/** Defines a filter for rows with one of several values, ignoring case. */
export const enumFilter = (what: string, values: readonly string[]) =>
  filter(
    'enum',
    `Filters by ${nameOf(what)}: one or more of these values, separated by commas: ${values.join(', ')}.`,
    { 'x-values': values },
  )

/** Defines a filter that takes `true` or `false`, ignoring case. */
export const booleanFilter = (what: string) => filter('boolean', `Filters by ${nameOf(what)}: True or False.`)

/** Defines a filter that takes `n`, `>=n`, `<=n` or several numbers, separated by commas. */
export const numberFilter = (what: string) =>
  filter('number', `Filters by ${nameOf(what)}: n, >=n, <=n, or several numbers separated by commas.`)

/** Defines a filter that takes a time, or `from..to` with either end open. */
export const timeFilter = (what: string) =>
  filter('time', `Filters by ${nameOf(what)}: a time or from..to, with either end open. A date means the whole day.`)

/** Defines a time filter whose parameter has the format `date-time` in the specification. It accepts the same values. */
export const instantFilter = (what: string): ReturnType<typeof timeFilter> =>
  Object.assign(timeFilter(what), { format: 'date-time' })

/** Defines a filter for rows with one of several tags. */
export const tagsFilter = (what: string) =>
  filter('tags', `Filters by ${nameOf(what)}: one or more tags, separated by commas. Matches rows with any of them.`)
