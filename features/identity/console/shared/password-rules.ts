import { strings } from '@portcullis/platform/console/lib/strings.ts'
/** The rules that the console checks itself, in characters as people count them. */
export const passwordRules = {
  min: 12,
  max: 128,
  text: strings.passwordRules,
} as const

/** Returns the fault of a new password, or null. The server also rejects common passwords. */
export const passwordFault = (password: string, userName = ''): string | null => {
  const length = [...password.normalize('NFC')].length
  if (length < passwordRules.min) return strings.passwordTooShort({ count: passwordRules.min - length })
  if (length > passwordRules.max) return strings.passwordTooLong({ count: length - passwordRules.max })
  if (userName !== '' && password.toLowerCase() === userName.toLowerCase()) return strings.passwordIsName
  return null
}
