type Texts<Names extends string> = { [Name in Names]?: string }
type Lists = Readonly<Record<string, readonly string[]>>

/** The search parameters of every list page except its filters. */
export type ListName = 'q' | 'query' | 'globalSearch' | 'sort' | 'cols' | 'open' | 'tab'

/**
 * Declares search parameters with any text. They need no check: the router parses an address to one text per name, and
 * the server refuses unknown filter values.
 */
export const textSearch =
  <Names extends string>() =>
  (_search: Record<string, unknown>): Texts<Names> => ({})

/** Declares the search parameters of a list page: its filters, sort order, columns, and open row. */
export const listSearch = <Filters extends string = never>() => textSearch<Filters | ListName>()

/** Declares search parameters with listed values. Other values are dropped from the URL. */
export const choiceSearch =
  <const Values extends Lists>(values: Values) =>
  (search: Record<string, unknown>): { [Name in keyof Values]?: Values[Name][number] } =>
    Object.fromEntries(
      Object.entries(values)
        .filter(([name, allowed]) => search[name] !== undefined && !allowed.includes(String(search[name])))
        .map(([name]) => [name, undefined]),
    ) as { [Name in keyof Values]?: Values[Name][number] }
