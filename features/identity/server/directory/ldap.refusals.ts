import { resultCode, resultOf } from './ldap.fault.ts'

/** Why a directory refused a bind. */
export interface BindRefusal {
  /** Short name for the log. A fixed set. */
  cause: string
  /** Completes the sentence "The directory refused the sign-in: …". */
  why: string
  /** Whether the name or the password may be wrong. Otherwise the account cannot sign in now. */
  isGuess: boolean
}

/** Sub-codes of result 49 in Active Directory and Samba (Windows error codes, hexadecimal). */
const subCodes: Readonly<Record<string, string>> = {
  525: 'the directory has no such account',
  '52e': 'the name or the password is wrong',
  '52f': 'a restriction of the account forbids it, such as an empty password',
  530: 'the account cannot sign in at this time of day',
  531: 'the account cannot sign in from this computer',
  532: 'the password has expired. Change it',
  533: 'the account is disabled',
  534: 'the account cannot sign in this way',
  701: 'the account has expired',
  773: 'the password must be changed before the first sign-in',
  775: 'the account is locked after too many wrong passwords. Unlock it, or wait',
}
const guesses: ReadonlySet<string> = new Set(['525', '52e'])

/** Result codes of a bind that refuse the account or the password. */
const results: Readonly<Record<number, BindRefusal>> = {
  [resultCode.invalidCredentials]: { cause: 'password', why: 'the name or the password is wrong', isGuess: true },
  [resultCode.noSuchObject]: { cause: 'password', why: 'the name or the password is wrong', isGuess: true },
  [resultCode.invalidDnSyntax]: { cause: 'name', why: 'it does not accept the form of the name', isGuess: true },
  [resultCode.inappropriateAuthentication]: { cause: 'no-password', why: 'the entry has no password', isGuess: false },
  [resultCode.insufficientAccessRights]: {
    cause: 'rights',
    why: 'the account lacks the right to bind',
    isGuess: false,
  },
  [resultCode.unwillingToPerform]: {
    cause: 'inactive',
    why: 'the account is inactive, or its password must be changed first',
    isGuess: false,
  },
  [resultCode.constraintViolation]: {
    cause: 'locked',
    why: 'the account is locked after too many wrong passwords. Unlock it, or wait',
    isGuess: false,
  },
}

/** Returns why a bind was refused. Null for other failures. */
export const refusalOf = (error: unknown): BindRefusal | null => {
  const result = resultOf(error)
  if (result === null) return null
  const text = error instanceof Error ? error.message : ''
  if (result === resultCode.invalidCredentials) {
    const code = /AcceptSecurityContext error, data ([0-9a-f]{3,8})\b/i.exec(text)?.[1]?.toLowerCase() ?? ''
    const why = subCodes[code]
    if (why !== undefined) return { cause: `ad-${code}`, why: `${why} (code ${code})`, isGuess: guesses.has(code) }
    // 389 Directory Server.
    if (/password expired/i.test(text))
      return { cause: 'expired', why: 'the password has expired. Change it', isGuess: false }
  }
  return results[result] ?? null
}
