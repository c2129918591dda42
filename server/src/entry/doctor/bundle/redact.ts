/** Replaces a secret. */
export const redacted = '[secret]'

const names = 'passwords?|passwd|passphrases?|pwd|tokens?|secrets?|api[-_ ]?keys?|credentials?|authorization|cookies?'

// The counts are limited, so that no text makes the search slow.
const scheme = /\b(basic|bearer|apikey|negotiate|digest)(\s{1,8})[^\s,;"']+/gi
/** A placeholder of a statement is no value. The value may contain spaces, so it ends with its line. */
const assigned = new RegExp(
  String.raw`((?:${names})[\w-]{0,32}\\{0,4}["']?\s{0,8}(?:[:=]|%3[ad]){1,3}[^\S\n]{0,8})(?!\$\d)[^\s][^\n]*`,
  'gi',
)
const quoted = new RegExp(
  String.raw`((?:${names})(?:\s{1,8}(?:is|was))?\s{1,8})(?:"[^"\n]{0,1024}"|'[^'\n]{0,1024}')`,
  'gi',
)
const mention = new RegExp(String.raw`^["'([{]*(?:${names})["')\]}]*$`, 'i')
const word = /[^\s.,;:!?()"']+/g
const member = new RegExp(`(?:${names})$`, 'i')

/** Returns whether the value of a member, such as `bindPassword`, is a secret because of its name. */
export const isSecretMember = (name: string): boolean => member.test(name)

/** Removes the words after a word for a secret, up to a word of the product: "the password is incorrect" stays. */
const withoutMentioned = (text: string, isKnown: (word: string) => boolean): string => {
  let isOpen = false
  let before = ''
  return text.replace(/\S+/g, (part) => {
    const previous = before
    before = part.toLowerCase()
    // Assignments are done already.
    if (part.includes(redacted) || part === '=') {
      isOpen = false
      return part
    }
    if (mention.test(part) || (previous === 'api' && /^keys?$/.test(before))) {
      isOpen = true
      return part
    }
    if (!isOpen || before === 'is' || before === 'was') return part
    isOpen = !(part.match(word) ?? ['']).every(isKnown)
    return isOpen ? redacted : part
  })
}

const signIn = /\b(?:auth|log[- ]?[io]n|sign[- ]?in|bind)/i
const failure = /fail|denied|refus|reject|invalid|incorrect|wrong|error|unknown/i
/** Codes of SMTP and LDAP, and addresses with or without a port. */
const harmless =
  /^(?:\d{1,3}|[245]\.\d{1,3}\.\d{1,3}|(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|\[[0-9a-f:]{2,39}\](?::\d{1,5})?)$/i

/**
 * Removes unknown words after the colon of a failed sign-in, such as "auth failed for admin: word". Other systems repeat
 * what they received.
 */
const withoutRepeated = (line: string, isKnown: (word: string) => boolean): string => {
  for (let at = line.indexOf(':'); at !== -1; at = line.indexOf(':', at + 1)) {
    const before = line.slice(Math.max(0, at - 200), at)
    // A colon inside a time or an address does not start unknown words.
    if (!/\s/.test(line[at + 1] ?? '') || !signIn.test(before) || !failure.test(before)) continue
    const rest = line
      .slice(at + 1)
      .replace(/\S+/g, (part) =>
        part.includes(redacted) ||
        harmless.test(part.replace(/[.,;:]$/, '')) ||
        (part.match(word) ?? []).every((one) => isKnown(one))
          ? part
          : redacted,
      )
    return `${line.slice(0, at + 1)}${rest}`
  }
  return line
}

/** Removes the text after a word for a secret or a failed sign-in, even if it is short. */
export const redact = (text: string, isKnown: (word: string) => boolean): string =>
  withoutMentioned(
    text.replace(scheme, `$1$2${redacted}`).replace(assigned, `$1${redacted}`).replace(quoted, `$1${redacted}`),
    isKnown,
  )
    .split('\n')
    .map((line) => withoutRepeated(line, isKnown))
    .join('\n')
