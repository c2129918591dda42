import { type SettingsApi, type SignInChange, signInDetails, signInTitle } from '#features/settings/server/index.ts'
import type { createApprovals } from './approvals.service.ts'

export type SignInSettings = Pick<SettingsApi, 'gateSignIn' | 'applySignIn' | 'signInNotes'>

/** Makes changes of sign-in settings wait for a second approver. */
export const gateSignIn = (
  settings: SignInSettings,
  approvals: Pick<ReturnType<typeof createApprovals>, 'mayAlone' | 'require' | 'handle' | 'noteSignInChange'>,
): void => {
  settings.gateSignIn({
    assertAlone: async (actor, change, secret) => {
      if (await approvals.mayAlone(actor, { kind: 'signIn' })) return
      const note = await settings.signInNotes(change)
      await approvals.require<SignInChange>(actor, {
        kind: 'signIn',
        change: note === '' ? change : { ...change, note },
        secret,
        detail:
          `Changing sign-in settings needs a second approver. Request {id} waits for another Administrator. ${note}`.trim(),
      })
    },
    changed: approvals.noteSignInChange,
  })
  approvals.handle<SignInChange>('signIn', {
    action: 'settings',
    title: signInTitle,
    details: async (_tx, change) => signInDetails(change),
    carryOut: async (tx, actor, change, { secret }) => {
      await settings.applySignIn(tx, actor, change, secret)
      return undefined
    },
  })
}
