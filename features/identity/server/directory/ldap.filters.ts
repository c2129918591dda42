/**
 * Filters as parsed values, not as texts. A typed name is inserted after parsing, so it cannot change the filter's
 * structure.
 */
import {
  AndFilter,
  ApproximateFilter,
  EqualityFilter,
  ExtensibleFilter,
  type Filter,
  FilterParser,
  GreaterThanEqualsFilter,
  LessThanEqualsFilter,
  NotFilter,
  OrFilter,
  SubstringFilter,
} from 'ldapts'
import { LdapFault } from './ldap.fault.ts'

const placeholder = '{username}'

const filled = (text: string | Buffer, name: string): string => String(text).replaceAll(placeholder, () => name)

/** Inserts the name into every value of a parsed filter. */
const fill = (filter: Filter, name: string): Filter => {
  if (filter instanceof AndFilter) return new AndFilter({ filters: filter.filters.map((one) => fill(one, name)) })
  if (filter instanceof OrFilter) return new OrFilter({ filters: filter.filters.map((one) => fill(one, name)) })
  if (filter instanceof NotFilter) return new NotFilter({ filter: fill(filter.filter, name) })
  if (filter instanceof SubstringFilter)
    return new SubstringFilter({
      attribute: filter.attribute,
      initial: filled(filter.initial, name),
      any: filter.any.map((part) => filled(part, name)),
      final: filled(filter.final, name),
    })
  if (filter instanceof EqualityFilter)
    return new EqualityFilter({ attribute: filter.attribute, value: filled(filter.value, name) })
  if (
    filter instanceof ApproximateFilter ||
    filter instanceof GreaterThanEqualsFilter ||
    filter instanceof LessThanEqualsFilter
  ) {
    filter.value = filled(filter.value, name)
    return filter
  }
  if (filter instanceof ExtensibleFilter) filter.value = filled(filter.value, name)
  return filter
}

/** Returns the filter that finds one person. */
export const personFilter = (template: string, attribute: string, userName: string): Filter => {
  if (template === '') return new EqualityFilter({ attribute, value: userName })
  let parsed: Filter
  try {
    parsed = FilterParser.parseString(template)
  } catch (error) {
    throw new LdapFault('filter', 'The user filter is not a valid RFC 4515 filter. Correct it.', error)
  }
  return fill(parsed, userName)
}

/** Returns a filter for one attribute with any of these values. */
export const anyOf = (attribute: string, values: readonly string[]): Filter =>
  new OrFilter({ filters: values.map((value) => new EqualityFilter({ attribute, value })) })

const groupClasses = [
  'group',
  'groupOfNames',
  'groupOfUniqueNames',
  'groupOfMembers',
  'posixGroup',
  'groupOfURLs',
  'ipausergroup',
]

/** Returns a filter for groups, by the object classes of common directories, that also match another filter. */
export const groupsThat = (filter: Filter): Filter =>
  new AndFilter({ filters: [anyOf('objectClass', groupClasses), filter] })
