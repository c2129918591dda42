/** Rules for names, passwords and pictures of accounts. Pure. */

import { countText, isOddText } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { isCommonPassword } from '@portcullis/platform/server/common-passwords.ts'
import { imageLimit, passwordLimits } from '#features/contract.ts'

/** Returns the form in which names are compared: `Ada` and `ada` are one account, in any Unicode composition. */
export const nameKey = (userName: string): string => userName.normalize('NFC').toLowerCase()

/** Names of the product itself in the audit trail. No account may have one of them. */
const reservedNames = new Set(['system', 'anonymous', 'enrolment'])

/** Refuses reserved names and names that look like another name in the audit trail or a list. */
export const assertUserName = (userName: string): void => {
  if (reservedNames.has(nameKey(userName))) throw invalid('body.userName', 'is reserved for the product')
  if (isOddText(userName)) throw invalid('body.userName', 'must not contain invisible or text direction characters')
}

/** Returns why a password is not acceptable, or null if it is. */
export const passwordFault = (password: string, userName: string): string | null => {
  const length = [...password.normalize('NFC')].length
  if (length < passwordLimits.min)
    return `The password has ${countText(length, 'character')}; at least ${passwordLimits.min} are needed.`
  if (length > passwordLimits.max)
    return `The password has ${length} characters; at most ${passwordLimits.max} are allowed.`
  if (nameKey(password) === nameKey(userName)) return 'The password is the same as the user name.'
  if (isCommonPassword(password)) return 'The password is on the list of common passwords.'
  return null
}

/** Refuses a password that breaks the rules. Returns 400. */
export const assertPassword = (password: string, userName: string): void => {
  const fault = passwordFault(password, userName)
  if (fault !== null) throw new AppError('password_rejected', { detail: fault })
}

const dataUri = /^data:image\/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/

const startsAs: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  png: (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')),
  jpeg: (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')),
  webp: (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
}

/** Refuses everything but pictures of types that cannot carry scripts (SVG can). */
export const assertImage = (image: string): void => {
  if (image === '') return
  const match = image.length <= imageLimit ? dataUri.exec(image) : null
  // Stryker disable next-line StringLiteral,ArrayDeclaration: Without a match, any type is unknown.
  const [, type = '', content = ''] = match ?? []
  if (startsAs[type]?.(Buffer.from(content, 'base64')) !== true)
    throw invalid('body.image', 'must be a data URI of a png, jpeg or webp picture, base64, at most 256 KiB')
}
