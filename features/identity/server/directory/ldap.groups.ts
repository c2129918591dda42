import { EqualityFilter } from 'ldapts'
import type { UserProfile } from '#features/contract.ts'
import type { LdapConnection } from './ldap.client.ts'
import type { LdapConfig } from './ldap.config.ts'
import { faultOf, isUseless } from './ldap.fault.ts'
import { anyOf, groupsThat } from './ldap.filters.ts'
import { type LdapPerson, valuesOf } from './ldap.person.ts'

/** Levels of nested groups that count. */
const maxDepth = 10
/** Groups checked for one profile. A cycle ends because no group is checked twice. */
const maxGroups = 5_000
/** DNs in one filter: about 10 KB of request. */
const dnsPerFilter = 100

/** How the directory stores memberships: groups at the person, or people at the group by DN or by name. */
type Membership = 'atPerson' | 'dnAtGroup' | 'nameAtGroup'

const membershipOf = (attribute: string): Membership => {
  if (/uid$/i.test(attribute)) return 'nameAtGroup'
  return /member$/i.test(attribute) ? 'dnAtGroup' : 'atPerson'
}

/** The part of a person that groups refer to. */
export type Member = Pick<LdapPerson, 'dn' | 'userName' | 'primaryGroupSid'>

/** A profile and its source. */
export interface Grant {
  profile: UserProfile
  /** The configured group. */
  group: string
}

const chunks = function* (dns: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < dns.length; at += dnsPerFilter) yield dns.slice(at, at + dnsPerFilter)
}

/** Returns a key for visited groups. Only the directory decides whether two DNs are equal. */
const keyOf = (dn: string): string =>
  dn
    .toLowerCase()
    .split(/([,=+])/)
    .map((part) => part.trim())
    .join('')

/** Returns the DNs of unvisited groups that have one of these values in an attribute. */
const nextGroups = async (
  connection: LdapConnection,
  base: string,
  attribute: string,
  dns: readonly string[],
  seen: Set<string>,
): Promise<string[]> => {
  const found: string[] = []
  for (const some of chunks(dns)) {
    const entries = await connection.search(base, groupsThat(anyOf(attribute, some)), ['1.1'], maxGroups)
    for (const { dn } of entries)
      if (!seen.has(keyOf(dn)) && seen.size < maxGroups) {
        seen.add(keyOf(dn))
        found.push(dn)
      }
  }
  return found
}

const has = async (
  connection: LdapConnection,
  dn: string,
  attribute: string,
  values: readonly string[],
): Promise<boolean> => {
  for (const some of chunks(values))
    if ((await connection.entry(dn, anyOf(attribute, some), ['1.1'])) !== undefined) return true
  return false
}

/** Searches each configured group and its nested groups for the person, from the top down. */
const byPerson = async (connection: LdapConnection, config: LdapConfig, member: Member): Promise<Grant | null> => {
  for (const { profile, dn: group } of config.groups) {
    const seen = new Set([keyOf(group)])
    let level = [group]
    for (let depth = 0; level.length > 0 && depth <= maxDepth; depth++) {
      if (await has(connection, member.dn, config.groupAttribute, level)) return { profile, group }
      level = await nextGroups(connection, config.baseDn, config.groupAttribute, level, seen)
    }
  }
  return null
}

/** Searches the person's groups, and their groups, for a configured one, from the bottom up. */
const byGroup = async (connection: LdapConnection, config: LdapConfig, member: Member): Promise<Grant | null> => {
  const seen = new Set([keyOf(member.dn)])
  let level = [member.dn]
  let best: Grant | null = null
  for (let depth = 0; level.length > 0 && depth <= maxDepth; depth++) {
    for (const { profile, dn: group } of config.groups)
      if ((best === null || profile < best.profile) && (await has(connection, group, config.groupAttribute, level)))
        best = { profile, group }
    if (best !== null && best.profile === config.groups[0]?.profile) return best
    level = await nextGroups(connection, config.baseDn, config.groupAttribute, level, seen)
  }
  return best
}

const byName = async (connection: LdapConnection, config: LdapConfig, member: Member): Promise<Grant | null> => {
  const filter = new EqualityFilter({ attribute: config.groupAttribute, value: member.userName })
  for (const { profile, dn: group } of config.groups)
    if ((await connection.entry(group, filter, ['1.1'])) !== undefined) return { profile, group }
  return null
}

/**
 * Compares the SIDs of a person of Active Directory with those of the configured groups. The directory resolves nested
 * groups itself, and this is the only place where the primary group appears.
 */
const bySid = async (connection: LdapConnection, config: LdapConfig, member: Member): Promise<Grant | null> => {
  if (member.primaryGroupSid === null) return null
  // The directory cannot compute the attribute if it cannot reach a global catalog.
  const entry = await connection.entry(member.dn, null, ['tokenGroups']).catch((error: unknown) => {
    if (isUseless(faultOf(error))) throw error
    return undefined
  })
  const sids = new Set([member.primaryGroupSid, ...(entry === undefined ? [] : valuesOf(entry, 'tokenGroups'))])
  for (const { profile, dn: group } of config.groups) {
    const found = await connection.entry(group, null, ['objectSid'])
    if (found !== undefined && valuesOf(found, 'objectSid').some((sid) => sids.has(sid))) return { profile, group }
  }
  return null
}

/** Returns the highest profile that groups give a person. Null if none does. */
export const grantOf = async (
  connection: LdapConnection,
  config: LdapConfig,
  member: Member,
): Promise<Grant | null> => {
  const membership = membershipOf(config.groupAttribute)
  const granted = membership === 'nameAtGroup' ? null : await bySid(connection, config, member)
  if (granted !== null && granted.profile === config.groups[0]?.profile) return granted
  const by = { atPerson: byPerson, dnAtGroup: byGroup, nameAtGroup: byName }[membership]
  const other = await by(connection, config, member)
  return granted === null || (other !== null && other.profile < granted.profile) ? other : granted
}
