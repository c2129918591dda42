import { type AccountView, deleteUsers, liftSuspension, resetMfa, suspendAccount } from '@portcullis/contract'
import { useServices, useSession } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { tell } from '../../ui/tell.ts'

/** What the reader may do with an account. */
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

/** Changes of accounts that ask first. */
export const useAccountActions = (reread: () => Promise<unknown>) => {
  const { api } = useServices()
  const suspend = ({ userName }: AccountView) =>
    confirm({
      title: 'Suspend account',
      names: [userName],
      kind: ['account', 'accounts'],
      consequence:
        'its sessions end now. For 24 hours its API tokens are refused, and it cannot sign in or approve. It keeps its profile, so changes that need a second approver still need one.',
      action: 'Suspend for 24 hours',
      run: async () => {
        await api.call(suspendAccount, { body: { userName } })
        tell('Account suspended for 24 hours.')
        await reread()
      },
    })
  const lift = ({ userName }: AccountView) =>
    confirm({
      title: 'Lift suspension',
      names: [userName],
      kind: ['account', 'accounts'],
      consequence: 'its API tokens work again, and it may sign in and approve.',
      action: 'Lift suspension',
      run: async () => {
        await api.call(liftSuspension, { body: { userName } })
        tell('Suspension lifted.')
        await reread()
      },
    })
  const reset = ({ userName }: AccountView) =>
    confirm({
      title: 'Reset the second factor',
      names: [userName],
      kind: ['account', 'accounts'],
      consequence:
        'its authenticator app, passkeys and recovery codes are taken away and its sessions end: the password alone signs in. Be sure that it is its owner who asks.',
      action: 'Reset second factor',
      run: async () => {
        const done = await api.call(resetMfa, { body: { userName } })
        tell(done.reset ? 'Second factor reset.' : 'There was no second factor any more.')
        await reread()
      },
    })
  const remove = (userNames: readonly string[], done: () => void) =>
    confirm({
      title: 'Delete accounts',
      names: [...userNames],
      kind: ['account', 'accounts'],
      consequence: 'their sessions and tokens end within a second. This cannot be taken back.',
      action: 'Delete',
      run: async () => {
        const { accepted } = await api.call(deleteUsers, { body: [...userNames] })
        done()
        tell(`${accepted.length} deleted.`)
        await reread()
      },
    })
  return { suspend, lift, reset, remove }
}

export type AccountActions = ReturnType<typeof useAccountActions>
