import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { type AccountView, deleteUsers, liftSuspension, resetMfa, suspendAccount } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Returns the account actions that the signed-in user may perform. */
export const useAccountRights = () => {
  const { session } = useServices()
  const state = useSession()
  const me = state.phase === 'in' ? state.profile.account : null
  const canWrite = session.may('accounts:write')
  const mayChange = (account: AccountView) =>
    canWrite && me !== null && (me.userProfile === 10 || account.userProfile === 30)
  const isOther = (account: AccountView) => account.userName !== me?.userName
  return {
    me,
    canWrite,
    mayChange,
    mayDelete: (account: AccountView) => mayChange(account) && isOther(account),
    mayReset: (account: AccountView) => account.mfaEnabled && session.may('config:write') && isOther(account),
    maySuspend: (account: AccountView) => session.may('config:write') && isOther(account),
  }
}

export type AccountRights = ReturnType<typeof useAccountRights>

/** Returns the changes of accounts that ask for confirmation first. */
export const useAccountActions = (reread: () => Promise<unknown>) => {
  const { api } = useServices()
  const suspend = ({ userName }: AccountView) =>
    confirm({
      title: strings.suspendAccount,
      names: [userName],
      kind: strings.accountCount,
      consequence: strings.suspendConsequence,
      action: strings.suspend,
      run: () => api.call(suspendAccount, { body: { userName } }),
      done: strings.accountSuspended,
      reread,
    })
  const lift = ({ userName }: AccountView) =>
    confirm({
      title: strings.lift,
      names: [userName],
      kind: strings.accountCount,
      consequence: strings.liftConsequence,
      run: () => api.call(liftSuspension, { body: { userName } }),
      done: strings.suspensionLifted,
      reread,
    })
  const reset = ({ userName }: AccountView) =>
    confirm({
      title: strings.reset,
      names: [userName],
      kind: strings.accountCount,
      consequence: strings.resetConsequence,
      run: async () => {
        const done = await api.call(resetMfa, { body: { userName } })
        tell(done.reset ? strings.secondFactorReset : strings.noSecondFactor)
        await reread()
      },
    })
  const remove = (userNames: readonly string[], done: () => void) =>
    confirm({
      title: strings.deleteAccounts,
      names: [...userNames],
      kind: strings.accountCount,
      consequence: strings.deleteConsequence,
      action: strings.delete,
      run: async () => {
        const { accepted } = await api.call(deleteUsers, { body: [...userNames] })
        done()
        tell(strings.accountsDeleted({ count: accepted.length }))
        await reread()
      },
    })
  return { suspend, lift, reset, remove }
}

export type AccountActions = ReturnType<typeof useAccountActions>
