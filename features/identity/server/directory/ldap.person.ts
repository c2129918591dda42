import { cleanText, isOddText } from '@portcullis/domain'
import type { Entry } from 'ldapts'
import { userNameLimits } from '#features/contract.ts'
import type { LdapConnection } from './ldap.client.ts'
import type { LdapConfig } from './ldap.config.ts'
import { personFilter } from './ldap.filters.ts'

/** A person's entry in the directory. */
export interface LdapPerson {
  dn: string
  userName: string
  /** Id that stays when an entry is renamed and is never reused. Null if the directory has none. */
  id: string | null
  firstName: string
  lastName: string
  email: string
  phone: string | null
  /** Why the entry may not sign in anywhere. Null if it may. */
  disabled: string | null
  /** SID of the primary group in Active Directory, as hex. No list of members or groups contains it. */
  primaryGroupSid: string | null
}

/** Result of a search for a name. Only exactly one entry is a person. */
export type Found = { kind: 'one'; person: LdapPerson } | { kind: 'none' } | { kind: 'many' } | { kind: 'unusable' }

const stateAttributes = ['userAccountControl', 'accountExpires', 'nsAccountLock', 'pwdAccountLockedTime']
const idAttributes = ['entryUUID', 'objectGUID', 'nsUniqueId']
const sidAttributes = ['objectSid', 'primaryGroupID']
const personAttributes = [
  ...['givenName', 'sn', 'mail', 'telephoneNumber'],
  ...stateAttributes,
  ...idAttributes,
  ...sidAttributes,
]

/** Returns the values of an attribute, by name in any case. Binary values as hex. */
export const valuesOf = (entry: Entry, name: string): string[] => {
  const key = Object.keys(entry).find((one) => one.toLowerCase() === name.toLowerCase())
  if (key === undefined) return []
  return [entry[key]].flat().map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value)))
}
const first = (entry: Entry, name: string): string => valuesOf(entry, name)[0] ?? ''

/** Milliseconds from 1601-01-01, the epoch of Active Directory, to 1970-01-01. */
const fileTimeOffsetMs = 11_644_473_600_000
/** ACCOUNTDISABLE of userAccountControl. */
const disabledBit = 2

const disabledWhy = (entry: Entry, now: number): string | null => {
  if ((Number(first(entry, 'userAccountControl')) & disabledBit) !== 0) return 'its entry is disabled'
  if (first(entry, 'nsAccountLock').toLowerCase() === 'true') return 'its entry is locked'
  // A lock with a date expires, and the directory refuses the bind until then.
  if (first(entry, 'pwdAccountLockedTime') === '000001010000Z') return 'its entry is locked'
  const expires = first(entry, 'accountExpires')
  // 0 and 2^63-1: never.
  if (/^[1-9]\d{0,17}$/.test(expires) && Number(expires) / 10_000 - fileTimeOffsetMs < now) return 'its entry expired'
  return null
}

/** Returns the SID of the primary group: the domain of the person's SID, with the id of the group. */
const primaryGroupSidOf = (entry: Entry): string | null => {
  const [sid = '', group = ''] = sidAttributes.map((name) => first(entry, name))
  if (!/^01[0-9a-f]{14}([0-9a-f]{8})+$/.test(sid) || !/^\d{1,10}$/.test(group) || Number(group) > 0xffff_ffff)
    return null
  const id = Buffer.alloc(4)
  id.writeUInt32LE(Number(group))
  return sid.slice(0, -8) + id.toString('hex')
}

/**
 * Returns the account name. Of several values: the typed one, otherwise the first in sort order, so it never varies.
 */
const userNameOf = (entry: Entry, attribute: string, typed: string): string | null => {
  const values = valuesOf(entry, attribute)
  const name = values.find((value) => value.toLowerCase() === typed.toLowerCase()) ?? values.toSorted()[0]
  if (name === undefined || name.trim() !== name || isOddText(name)) return null
  return name.length >= userNameLimits.min && name.length <= userNameLimits.max ? name : null
}

export const findPerson = async (
  connection: LdapConnection,
  config: LdapConfig,
  typed: string,
  now: number,
): Promise<Found> => {
  const filter = personFilter(config.userFilter, config.nameAttribute, typed)
  const entries = await connection.search(config.baseDn, filter, [config.nameAttribute, ...personAttributes], 2)
  const [entry] = entries
  if (entry === undefined) return { kind: 'none' }
  if (entries.length > 1) return { kind: 'many' }
  const userName = userNameOf(entry, config.nameAttribute, typed)
  if (userName === null || entry.dn === '') return { kind: 'unusable' }
  const id = idAttributes.map((name) => first(entry, name)).find((value) => value !== '')
  return {
    kind: 'one',
    person: {
      dn: entry.dn,
      userName,
      id: id ?? null,
      firstName: cleanText(first(entry, 'givenName'), 100),
      lastName: cleanText(first(entry, 'sn'), 100),
      email: cleanText(first(entry, 'mail'), 254),
      phone: cleanText(first(entry, 'telephoneNumber'), 50) || null,
      disabled: disabledWhy(entry, now),
      primaryGroupSid: primaryGroupSidOf(entry),
    },
  }
}
