/**
 * Filters as values, not as texts: what somebody typed is put into a filter that was parsed before, so that it cannot be
 * taken for a part of it whatever it holds.
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

const place = '{username}'

const filled = (text: string | Buffer, name: string): string => String(text).replaceAll(place, () => name)

/** Puts the name into every value of a parsed filter. */
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

/** The filter that finds one person. */
export const personFilter = (template: string, attribute: string, userName: string): Filter => {
  if (template === '') return new EqualityFilter({ attribute, value: userName })
  let parsed: Filter
  try {
    parsed = FilterParser.parseString(template)
  } catch (error) {
    throw new LdapFault('filter', 'The filter of people cannot be read: it is no filter by RFC 4515.', error)
  }
  return fill(parsed, userName)
}

/** One of these values in one attribute. */
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

/** Groups, by the object classes of common directories, that fit another filter too. */
export const groupsThat = (filter: Filter): Filter =>
  new AndFilter({ filters: [anyOf('objectClass', groupClasses), filter] })
