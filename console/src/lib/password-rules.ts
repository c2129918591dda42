/** The rules that can be told before asking the server, in characters as people count them. */
export const passwordRules = {
  min: 12,
  max: 128,
  text: '12 to 128 characters; not a common password, not your user name.',
} as const

/** What is wrong with a new password, or null. The server knows the common ones and judges in the end. */
export const passwordFault = (password: string, userName = ''): string | null => {
  const length = [...password.normalize('NFC')].length
  if (length < passwordRules.min) return `${passwordRules.min - length} more characters are needed.`
  if (length > passwordRules.max) return `${length - passwordRules.max} characters too long.`
  if (userName !== '' && password.toLowerCase() === userName.toLowerCase()) return 'The password is the user name.'
  return null
}
