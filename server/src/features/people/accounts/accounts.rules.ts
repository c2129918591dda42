/** What names, passwords and pictures of accounts may be. Pure. */
import { imageLimit, passwordLimits } from '@portcullis/contract'
import { isOddText } from '@portcullis/domain'
import { AppError, invalid } from '#platform/app-error.ts'
import { isCommonPassword } from '#platform/common-passwords.ts'

/** The form by which names are compared: `Ada` and `ada` are one account, composed and decomposed letters too. */
export const nameKey = (userName: string): string => userName.normalize('NFC').toLowerCase()

/** Whom the audit trail means by these: no person may act under them. */
const ownNames = new Set(['system', 'anonymous', 'enrolment'])

/** Refuses a name that would be taken for another in the trail or a list: of the product itself, or told apart by nothing one sees. */
export const assertUserName = (userName: string): void => {
  if (ownNames.has(nameKey(userName))) throw invalid('body.userName', 'is a name the product acts under')
  if (isOddText(userName)) throw invalid('body.userName', 'must not hold invisible characters or marks of direction')
}

/** Why a password cannot be taken; null when it can. */
export const passwordFault = (password: string, userName: string): string | null => {
  const length = [...password.normalize('NFC')].length
  if (length < passwordLimits.min)
    return `The password has ${length} characters; at least ${passwordLimits.min} are needed.`
  if (length > passwordLimits.max)
    return `The password has ${length} characters; at most ${passwordLimits.max} are taken.`
  if (nameKey(password) === nameKey(userName)) return 'The password is the user name.'
  if (isCommonPassword(password)) return 'The password is on the list of common passwords.'
  return null
}

/** Refuses a password that breaks the rules with 400. */
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

/** Refuses what is not a picture of a kind that cannot carry scripts (SVG can). */
export const assertImage = (image: string): void => {
  if (image === '') return
  const match = image.length <= imageLimit ? dataUri.exec(image) : null
  const looksRight = match === null ? undefined : startsAs[match[1] as string]
  if (match === null || looksRight?.(Buffer.from(match[2] as string, 'base64')) !== true)
    throw invalid('body.image', 'must be a data URI of a png, jpeg or webp picture, base64, at most 256 KiB')
}
