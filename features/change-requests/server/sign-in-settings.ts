import { type SettingsApi, type SignInChange, signInDetails, signInTitle } from '#features/settings/server/index.ts'
import type { createChangeRequests } from './change-requests.service.ts'

export type SignInSettings = Pick<SettingsApi, 'gateSignIn' | 'applySignIn' | 'signInNotes'>

/** Makes changes of sign-in settings wait for a second approver. */
export const gateSignIn = (
  settings: SignInSettings,
  changeRequests: Pick<ReturnType<typeof createChangeRequests>, 'mayAlone' | 'require' | 'handle' | 'noteSignInChange'>,
): void => {
  settings.gateSignIn({
    assertAlone: async (actor, change, secret) => {
      if (await changeRequests.mayAlone(actor, { kind: 'signIn' })) return
      const note = await settings.signInNotes(change)
      await changeRequests.require<SignInChange>(actor, {
        kind: 'signIn',
        change: note === '' ? change : { ...change, note },
        secret,
        detail:
          `Changing sign-in settings needs a second approver. Request {id} waits for another Administrator. ${note}`.trim(),
      })
    },
    changed: changeRequests.noteSignInChange,
  })
  changeRequests.handle<SignInChange>('signIn', {
    action: 'settings',
    title: signInTitle,
    details: async (_tx, change) => signInDetails(change),
    carryOut: async (tx, actor, change, { secret }) => {
      await settings.applySignIn(tx, actor, change, secret)
      return undefined
    },
  })
}
