import { ConstraintViolationError, InvalidCredentialsError, NoSuchObjectError, UnwillingToPerformError } from 'ldapts'
import { describe, expect, it } from 'vitest'
import { refusalOf } from './ldap.refusals.ts'

const windows = (data: string) =>
  new InvalidCredentialsError(
    `80090308: LdapErr: DSID-0C090449, comment: AcceptSecurityContext error, data ${data}, v4f7c`,
  )

describe('why a directory refuses a bind', () => {
  it.each([
    ['525', true, /no such account/],
    ['52e', true, /name or the password is wrong/],
    ['530', false, /time of day/],
    ['531', false, /this computer/],
    ['532', false, /expired/],
    ['533', false, /disabled/],
    ['701', false, /account has expired/],
    ['773', false, /must be changed/],
    ['775', false, /locked/],
  ])('reads the sub-code %s of Active Directory', (data, isGuess, why) => {
    expect(refusalOf(windows(data))).toEqual({
      cause: `ad-${data}`,
      why: expect.stringMatching(why),
      isGuess,
    })
  })

  it('does not name an unknown sub-code, or a number elsewhere in the answer', () => {
    for (const text of ['data 775', 'AcceptSecurityContext error, data 0, v1', 'AcceptSecurityContext error, data zzz'])
      expect(refusalOf(new InvalidCredentialsError(text))).toMatchObject({ cause: 'password', isGuess: true })
  })

  it('reads the results of other directories', () => {
    expect(refusalOf(new InvalidCredentialsError('password expired!'))).toMatchObject({ cause: 'expired' })
    expect(refusalOf(new ConstraintViolationError('Exceed password retry limit.'))).toMatchObject({ cause: 'locked' })
    expect(refusalOf(new UnwillingToPerformError('Account inactivated.'))).toMatchObject({ cause: 'inactive' })
    expect(refusalOf(new NoSuchObjectError())).toMatchObject({ isGuess: true })
    expect(refusalOf(new Error('the connection broke'))).toBeNull()
  })
})
