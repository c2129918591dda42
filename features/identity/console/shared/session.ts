import type { Api, TokenAnswer } from '@portcullis/platform/console/lib/api.ts'
import type { Session, SessionCalls } from '@portcullis/platform/console/lib/session.ts'
import {
  type authProviders,
  type BodyOf,
  consoleHeader,
  finishSignIn,
  getProfile,
  localLogin,
  logout,
  type MfaRequired,
  type ResponseOf,
  refreshToken,
} from '#features/contract.ts'

export type Providers = ResponseOf<typeof authProviders>

/** One proof of identity after the password. */
export type SecondFactor = Omit<BodyOf<typeof finishSignIn>, 'mfaToken'>

/** Requests a new access token with the HttpOnly cookie of the console. */
export const refreshByCookie = async (send: Api['send']): Promise<TokenAnswer> => {
  const response = await send(refreshToken, { body: {} }, { [consoleHeader]: '1' })
  return (await response.json()) as TokenAnswer
}

export const sessionCalls = (api: Pick<Api, 'call' | 'setToken' | 'renew'>): SessionCalls => ({
  renew: api.renew,
  profile: () => api.call(getProfile),
  signOut: () => api.call(logout),
  forget: () => api.setToken(null),
})

/** The services that a sign-in needs. The application has more. */
export interface SignInServices {
  api: Pick<Api, 'call' | 'send' | 'setToken'>
  session: Pick<Session, 'reload'>
}

/** Signs in with the password. Returns the required second factor, or null. */
export const signIn = async (
  { api, session }: SignInServices,
  username: string,
  password: string,
): Promise<MfaRequired | null> => {
  api.setToken(null)
  const response = await api.send(localLogin, { body: { username, password } }, { [consoleHeader]: '1' })
  const answer = (await response.json()) as ResponseOf<typeof localLogin>
  if ('mfaRequired' in answer) return answer
  api.setToken(answer.token)
  await session.reload()
  return null
}

/** Completes a sign-in with the second factor. */
export const completeSignIn = async (
  { api, session }: SignInServices,
  { mfaToken }: Pick<MfaRequired, 'mfaToken'>,
  factor: SecondFactor,
): Promise<void> => {
  const response = await api.send(finishSignIn, { body: { mfaToken, ...factor } }, { [consoleHeader]: '1' })
  api.setToken(((await response.json()) as TokenAnswer).token)
  await session.reload()
}
