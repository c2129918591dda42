import type { BodyOf, Connection, ConnectionInput, updateConnection } from '#features/contract.ts'
import { type TagChanges, tagChanges } from '#features/policy/console/shared/opens-by-tags.ts'
import { strings } from './strings.ts'

/** Secrets of a connection: written, never read. */
export const secretNames = ['password', 'privateKey', 'passphrase'] as const
export type SecretName = (typeof secretNames)[number]

/** A connection in a form. A secret is empty if nothing was typed; then the stored one stays. */
export interface ConnectionDraft {
  computerName: string
  port: number | string
  platform: Connection['platform']
  isOverrideDefaults: boolean
  userName: string
  password: string
  privateKey: string
  passphrase: string
  /** Stored secrets to remove. */
  removed: SecretName[]
  intervalMinutes: number | string
  hashtags: string[]
  hostKeyFingerprint: string
}

const tagsOf = (connection: Connection | null): string[] =>
  (connection?.hashtags ?? '').split(',').filter((tag) => tag !== '')

export const draftOf = (connection: Connection | null): ConnectionDraft => ({
  computerName: connection?.computerName ?? '',
  port: connection?.port ?? '',
  platform: connection?.platform ?? 'auto',
  isOverrideDefaults: connection?.isOverrideDefaults ?? false,
  userName: connection?.userName ?? '',
  password: '',
  privateKey: '',
  passphrase: '',
  removed: [],
  intervalMinutes: connection?.intervalMinutes ?? '',
  hashtags: tagsOf(connection),
  hostKeyFingerprint: connection?.hostKeyFingerprint ?? '',
})

const sameTags = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((tag) => other.includes(tag))

/** Returns the entered value, or 0 for the default if the field is blank. */
const numberOrDefault = (value: number | string): number => (typeof value === 'number' ? value : 0)

/**
 * Returns the members that differ from the stored connection. Omits unchanged members, because the server requires the
 * secrets again when the address changes, and replaces all tags if the request contains tags.
 */
const membersOf = (draft: ConnectionDraft, before: Connection | null): Omit<ConnectionInput, 'computerName'> => {
  const { port, platform, isOverrideDefaults, userName, intervalMinutes, hashtags } = draft
  const hostKeyFingerprint = draft.hostKeyFingerprint.trim()
  const was = draftOf(before)
  const members: Omit<ConnectionInput, 'computerName'> = {}
  if (port !== was.port) members.port = numberOrDefault(port)
  if (platform !== was.platform) members.platform = platform
  if (hostKeyFingerprint !== was.hostKeyFingerprint) members.hostKeyFingerprint = hostKeyFingerprint
  if (!sameTags(hashtags, was.hashtags)) members.hashtags = hashtags
  if (isOverrideDefaults !== was.isOverrideDefaults) members.isOverrideDefaults = isOverrideDefaults
  if (!isOverrideDefaults) return members
  if (userName.trim() !== was.userName) members.userName = userName.trim()
  if (intervalMinutes !== was.intervalMinutes) members.intervalMinutes = numberOrDefault(intervalMinutes)
  for (const name of secretNames) {
    if (draft[name] !== '') members[name] = draft[name]
    else if (draft.removed.includes(name)) members[name] = ''
  }
  return members
}

/** Returns the connection to add or test. */
export const inputOf = (draft: ConnectionDraft, before: Connection | null): ConnectionInput => ({
  computerName: draft.computerName.trim(),
  ...membersOf(draft, before),
})

/** Returns the change of a stored connection. */
export const changeOf = (draft: ConnectionDraft, before: Connection): BodyOf<typeof updateConnection> => {
  const name = draft.computerName.trim()
  return {
    computerName: before.computerName,
    ...(name === before.computerName ? {} : { newComputerName: name }),
    ...membersOf(draft, before),
  }
}

/** Returns the errors that the console finds without the server, by field. */
export const faultsOf = (draft: ConnectionDraft): Partial<Record<keyof ConnectionDraft, string>> =>
  draft.computerName.trim() === '' ? { computerName: strings.nameMissing } : {}

/** Returns a body for a command to copy: typed secrets are left to be filled in. */
export const shownBody = <Body extends object>(body: Body): Body => ({
  ...body,
  ...Object.fromEntries(secretNames.filter((name) => name in body).map((name) => [name, '…'])),
})

/** Returns the changes of the tags of the host; none before its first successful poll. */
export const tagChangesOf = (draft: ConnectionDraft, before: Connection): TagChanges => {
  if (before.uuid === '') return []
  const was = tagsOf(before)
  return tagChanges(
    [before.uuid],
    draft.hashtags.filter((tag) => !was.includes(tag)),
    was.filter((tag) => !draft.hashtags.includes(tag)),
  )
}
