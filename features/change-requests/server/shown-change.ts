import { createHash } from 'node:crypto'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { type ChangeRequest, maxRequestLine } from '#features/contract.ts'

/** Characters that a person cannot see, or that change other text. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

const code = (character: string): string => {
  const hex = (character.codePointAt(0) as number).toString(16).toUpperCase()
  return hex.length > 4 ? `%u{${hex}}` : `%u${hex.padStart(4, '0')}`
}

/** Returns a line of a change as its approver reads it. Refuses one that cannot be shown in full. */
export const shownLine = (line: string): string => {
  const shown = line.replace(hidden, code)
  if (shown.length <= maxRequestLine) return shown
  throw new AppError('change_not_shown', {
    detail: `A second approver could not read this in full: it has ${shown.length} characters, and the limit is ${maxRequestLine}. It begins with ${JSON.stringify(shown.slice(0, 80))}.`,
  })
}

const valueText = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : value === null ? 'none' : JSON.stringify(value)

/** Lists the members of a change in the form `label: value`. A member without a label appears under its own name. */
export const memberLines = (
  members: Readonly<Record<string, unknown>>,
  labels: Readonly<Record<string, string>>,
): string[] =>
  Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [`${labels[name] ?? name}: ${valueText(value)}`],
  )

type Shown = Pick<ChangeRequest, 'action' | 'title' | 'hosts' | 'details'> & {
  request_id: string
  requested_by: string
  requested_at: Date
  expires_at: Date
}

/** Returns the file of a request: everything that its approver reads. */
export const fileOf = (r: Shown): string =>
  [
    `Change request ${r.request_id}`,
    `Change: ${r.title}`,
    `Kind: ${r.action}`,
    `Hosts: ${r.hosts}`,
    `Requested by: ${r.requested_by}`,
    `Requested at: ${r.requested_at.toISOString()}`,
    `Expires at: ${r.expires_at.toISOString()}`,
    `Lines: ${r.details.length}`,
    ...r.details.map((line, i) => `${i + 1}. ${line}`),
    '',
  ].join('\n')

/** Returns the SHA-256 of the file, in hexadecimal. */
export const digestOf = (r: Shown): string => createHash('sha256').update(fileOf(r)).digest('hex')
