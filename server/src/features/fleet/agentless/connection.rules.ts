import { isIP } from 'node:net'
import type { ConnectionInput } from '@portcullis/contract'
import { isForbiddenAddress } from '@portcullis/domain'
import { invalid } from '#platform/app-error.ts'

/** A host name by RFC 1123: labels of letters, digits and inner hyphens, 253 characters at most. */
const hostName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i
/** Four numbers with dots that are no address would be looked up as a name, which nobody means. */
const looksLikeAddress = /^[0-9.]+$/

/** What is wrong with the name of a computer; null when nothing is. */
const nameFault = (name: string): string | null => {
  if (name === '') return 'is empty'
  if (isIP(name) !== 0)
    return isForbiddenAddress(name) ? 'is an address of a cloud or network itself, which is not polled' : null
  if (!hostName.test(name) || looksLikeAddress.test(name)) return 'is neither a host name (RFC 1123) nor an IP address'
  return null
}

/** Name by which a computer is known: case and a final dot say nothing. */
export const nameKey = (name: string): string => name.trim().toLowerCase().replace(/\.$/, '')

/** What was given of credentials: an absent or null member stays as it is, an empty text takes it away. */
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

/** A control character in a user name or password never got there on purpose. */
const control = /[\u0000-\u001f\u007f]/

/**
 * Checks one connection as far as it stands alone.
 * @param field place in the request, for messages
 */
export const assertConnection = (input: Partial<ConnectionInput>, field: string): void => {
  const name = input.computerName ?? ''
  const fault = nameFault(name.trim())
  if (fault !== null) throw invalid(`${field}.computerName`, fault)
  if (control.test(input.userName ?? '')) throw invalid(`${field}.userName`, 'holds control characters')
  if (control.test(input.password ?? '')) throw invalid(`${field}.password`, 'holds control characters')
  const key = input.privateKey ?? ''
  if (key !== '' && !/^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(key.trim()))
    throw invalid(`${field}.privateKey`, 'is no private key in OpenSSH or PEM form')
  const tags = input.hashtags ?? []
  if (new Set(tags.map((tag) => tag.trim().toLowerCase())).size !== tags.length)
    throw invalid(`${field}.hashtags`, 'names a tag twice')
}

/** Own credentials or interval are meant: said so, or given. */
export const overrides = (input: Partial<ConnectionInput>): boolean | null => {
  const given = [input.userName, input.password, input.privateKey, input.passphrase].some((text) => (text ?? '') !== '')
  if (given || (input.intervalMinutes ?? 0) > 0) return true
  return input.isOverrideDefaults ?? null
}
