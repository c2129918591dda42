import { isIP } from 'node:net'
import { isForbiddenAddress, sshKeyOf } from '@portcullis/domain'
import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { ConnectionInput } from '#features/contract.ts'

/** A host name by RFC 1123: labels of letters, digits and inner hyphens, 253 characters at most. */
const hostName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i
/** Invalid IP addresses would be resolved as names, which nobody intends. */
const looksLikeAddress = /^[0-9.]+$/

/** Returns why the name of a computer is invalid, or null if it is valid. */
const nameFault = (name: string): string | null => {
  if (name === '') return 'is empty'
  if (isIP(name) !== 0)
    return isForbiddenAddress(name) ? 'is a reserved cloud or network address, which cannot be polled' : null
  if (!hostName.test(name) || looksLikeAddress.test(name)) return 'is neither a host name (RFC 1123) nor an IP address'
  return null
}

/** Returns the normalized name of a computer, without case and final dot. */
export const nameKey = (name: string): string => name.trim().toLowerCase().replace(/\.$/, '')

/** The given credentials: an absent or null member keeps the stored one, an empty string removes it. */
export interface GivenSecrets {
  password: string | null
  privateKey: string | null
  passphrase: string | null
}

export const secretsOf = (input: Partial<ConnectionInput>): GivenSecrets => ({
  password: input.password ?? null,
  privateKey: input.privateKey ?? null,
  passphrase: input.passphrase ?? null,
})

/** Control characters in a user name or password are never intended. */
const control = /[\u0000-\u001f\u007f]/

/**
 * Validates one connection without the others.
 *
 * @param field path in the request, for messages
 */
export const assertConnection = (input: Partial<ConnectionInput>, field: string): void => {
  const name = input.computerName ?? ''
  const fault = nameFault(name.trim())
  if (fault !== null) throw invalid(`${field}.computerName`, fault)
  if (control.test(input.userName ?? '')) throw invalid(`${field}.userName`, 'contains control characters')
  if (control.test(input.password ?? '')) throw invalid(`${field}.password`, 'contains control characters')
  const key = (input.privateKey ?? '') === '' ? null : sshKeyOf(input.privateKey ?? '')
  if (key !== null && 'fault' in key) throw invalid(`${field}.privateKey`, key.fault)
  const tags = input.hashtags ?? []
  if (new Set(tags.map((tag) => tag.trim().toLowerCase())).size !== tags.length)
    throw invalid(`${field}.hashtags`, 'contains a tag twice')
}

/** Returns whether the input overrides the default credentials or interval, or null if it does not specify this. */
export const overrides = (input: Partial<ConnectionInput>): boolean | null => {
  const given = [input.userName, input.password, input.privateKey, input.passphrase].some((text) => (text ?? '') !== '')
  if (given || (input.intervalMinutes ?? 0) > 0) return true
  return input.isOverrideDefaults ?? null
}
