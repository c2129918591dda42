/**
 * Defines the filters of lists as schemas. `x-filter` gives the kind, which the server, OpenAPI and the console read. All
 * filters are optional query parameters; an empty value is the same as an absent one.
 */
import { type TSchema, Type } from 'typebox'

export type FilterKind =
  | 'text'
  | 'enum'
  | 'boolean'
  | 'number'
  | 'time'
  | 'tags'
  /** The exact value of an identifier. */
  | 'id'
  /** One end of a period. */
  | 'instant'
  /** A condition with AND, OR and NOT (query.ts). */
  | 'query'

/** Kinds of values that the fleet suggests for a filter. */
export const suggestionKinds = ['vendor', 'product', 'model', 'vid', 'pid'] as const
export type Suggestions = (typeof suggestionKinds)[number]

/** Kinds of objects that a filter identifies by ID, and that people choose by name. */
export type Choices = 'alert' | 'host' | 'job' | 'schedule'

/** How lists show a filter. */
export interface FilterFacts {
  kind: FilterKind
  /** Key of the column that it filters. Default: the key of its description, or its name. */
  of?: string
  /** Default: the label of the column. */
  label?: string
  /** Accepted values, in the order of the editor. */
  values?: readonly string[]
  /** Labels of its values. Default: those of the column. */
  labels?: Readonly<Record<string, string>>
  /** Accepts only one value. */
  isSingle?: true
  /** The filter of the other end, and the label of the period, if this filter is its start. */
  period?: { until: string; label: string }
  /** What the filter suggests while a person types. */
  suggests?: Suggestions
  /** Kind of object that people choose by name instead of typing its ID. */
  choices?: Choices
  /** Texts that the filter accepts, as a regular expression, and the sentence that says so. Absent: any text. */
  accepts?: { form: string; hint: string }
}
type MoreFacts = Omit<FilterFacts, 'kind'>

/** Labels a filter that the functions below cannot define. OpenAPI does not publish `x-facts`. */
export const labelledFilter = <S extends TSchema>(schema: S, facts: FilterFacts): S =>
  Object.assign(schema, { 'x-facts': facts })

export const filterFacts = (schema: TSchema & { 'x-facts'?: FilterFacts }): FilterFacts =>
  schema['x-facts'] ?? { kind: 'text' }

const isKey = (what: string): boolean => /^[a-z]\w*$/.test(what)

/** Formats the name of a field as code, and other text in lower case. */
const nameOf = (what: string): string =>
  isKey(what) ? `\`${what}\`` : `${what.charAt(0).toLowerCase()}${what.slice(1)}`

const filter = (
  kind: FilterKind,
  what: string,
  description: string,
  more: MoreFacts = {},
  extra: Record<string, unknown> = {},
) =>
  labelledFilter(Type.Optional(Type.String({ maxLength: 2048, description, 'x-filter': kind, ...extra })), {
    kind,
    ...(isKey(what) ? { of: what } : {}),
    ...more,
  })

/** Defines a filter for rows that contain a text, ignoring case. `%` and `_` have no special meaning. */
export const textFilter = (what: string, more?: MoreFacts) =>
  filter('text', what, `Filters by ${nameOf(what)}: any part of the value, ignoring case.`, more)

/** Defines the vendor filter of every list. */
export const vendorFilter = (what: string, more?: MoreFacts) =>
  textFilter(`${what} (vendor name of the model, or manufacturer string of one of its devices)`, {
    suggests: 'vendor',
    ...more,
  })

/** Defines a filter by the model of a device. */
export const modelFilter = (what: string, more?: MoreFacts) =>
  filter(
    'text',
    what,
    `Filters by ${nameOf(what)}: \`VID:PID\`, or words of its IDs, vendor, product and strings, ignoring case.`,
    { suggests: 'model', ...more },
  )

/** Defines a filter for rows with one of several values, ignoring case. */
export const enumFilter = (what: string, values: readonly string[], more?: MoreFacts) =>
  filter(
    'enum',
    what,
    `Filters by ${nameOf(what)}: one or more of these values, separated by commas: ${values.join(', ')}.`,
    { values, ...more },
    { 'x-values': values },
  )

/** Defines a filter that takes `true` or `false`, ignoring case. */
export const booleanFilter = (what: string, more?: MoreFacts) =>
  filter('boolean', what, `Filters by ${nameOf(what)}: True or False.`, more)

/** Defines a filter that takes `n`, `>=n`, `<=n` or several numbers, separated by commas. */
export const numberFilter = (what: string, more?: MoreFacts) =>
  filter('number', what, `Filters by ${nameOf(what)}: n, >=n, <=n, or several numbers separated by commas.`, more)

/** Defines a filter that takes a time, or `from..to` with either end open. */
export const timeFilter = (what: string, more?: MoreFacts) =>
  filter(
    'time',
    what,
    `Filters by ${nameOf(what)}: a time or from..to, with either end open. A date means the whole day.`,
    more,
  )

/** Defines a time filter whose parameter has the format `date-time` in the specification. It accepts the same values. */
export const instantFilter = (what: string, more?: MoreFacts): ReturnType<typeof timeFilter> =>
  Object.assign(timeFilter(what, more), { format: 'date-time' })

/** Defines a filter for rows with one of several tags. */
export const tagsFilter = (what: string, more?: MoreFacts) =>
  filter(
    'tags',
    what,
    `Filters by ${nameOf(what)}: one or more tags, separated by commas. Matches rows with any of them.`,
    more,
  )

/** Defines a filter for an exact identifier. */
export const idFilter = (description: string, maxLength: number, more?: MoreFacts) =>
  labelledFilter(Type.Optional(Type.String({ maxLength, description, 'x-filter': 'id' })), { kind: 'id', ...more })

/** Defines a filter for one end of a period. */
export const endFilter = (description: string, label: string, period?: FilterFacts['period']) =>
  labelledFilter(Type.Optional(Type.String({ maxLength: 64, description })), {
    kind: 'instant',
    label,
    ...(period === undefined ? {} : { period }),
  })

/** Defines a filter for rows of a syslog severity or a more severe one. */
export const minimumSeverityFilter = (names: readonly string[]) =>
  labelledFilter(
    Type.Optional(Type.String({ maxLength: 20, description: 'Lowest severity to return, as a name or number.' })),
    { kind: 'enum', label: 'Minimum severity', values: names, isSingle: true },
  )
