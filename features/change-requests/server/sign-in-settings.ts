import { type SettingsApi, type SignInChange, signInDetails, signInTitle } from '#features/settings/server/index.ts'
import type { createChangeRequests } from './change-requests.service.ts'

/** Makes changes of sign-in settings wait for a second approver. */
export const gateSignIn = (settings: SettingsApi, changeRequests: ReturnType<typeof createChangeRequests>): void => {
  settings.gateSignIn({
    assertAlone: (actor, change, secret) =>
      changeRequests.assertAlone<SignInChange>(actor, { kind: 'signIn' }, async () => {
        const note = await settings.signInNotes(change)
        return {
          kind: 'signIn',
          change: note === '' ? change : { ...change, note },
          secret,
          detail:
            `Changing sign-in settings needs a second approver. Request {id} waits for another Administrator. ${note}`.trim(),
        }
      }),
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
