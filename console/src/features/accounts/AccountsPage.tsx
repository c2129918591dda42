import { Avatar, Button, Checkbox, Menu, Modal } from '@mantine/core'
import {
  type AccountView,
  deleteUsers,
  getAllUsers,
  liftSuspension,
  profileNames,
  resetMfa,
  suspendAccount,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { useServices, useSession } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { useNow } from '../../ui/useNow.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { AccountForm } from './AccountForm.tsx'
import classes from './AccountsPage.module.css'

/** Where an account is let in, and whether the password alone is enough as far as that is known here. */
const SignInOf = ({ authSource, mfaEnabled }: AccountView) => (
  <>
    {authSource}
    {authSource === 'Local' ? (
      <div className={classes.quiet}>{mfaEnabled ? 'with second factor' : 'password only'}</div>
    ) : null}
  </>
)

/** Whether it may sign in, and how long a suspension lasts. */
const StateOf = ({ account, now }: { account: AccountView; now: number }) => {
  if (!isSuspended(account, now))
    return account.isEnabled ? (account.mustChangePassword ? 'must change the password' : 'enabled') : 'disabled'
  return (
    <>
      <strong>suspended</strong>
      <div className={classes.quiet}>
        by <DeviceText value={account.suspendedBy ?? ''} />, {timeLeft(account, now)} left
      </div>
    </>
  )
}

const isSuspended = ({ suspendedUntil }: AccountView, now: number): boolean =>
  suspendedUntil !== null && Date.parse(suspendedUntil) > now

const timeLeft = ({ suspendedUntil }: AccountView, now: number): string => {
  const minutes = Math.min(24 * 60, Math.ceil((Date.parse(suspendedUntil ?? '') - now) / 60_000))
  return minutes >= 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes} min`
}

/** Who it is: the name that signs in, and below it the name of the person. */
const Who = ({ account, isMe }: { account: AccountView; isMe: boolean }) => {
  const fullName = `${account.firstName} ${account.lastName}`.trim()
  return (
    <span className={classes.who}>
      <Avatar src={account.image || null} size={22} name={account.userName} />
      <span>
        <DeviceText value={account.userName} />
        {isMe ? ' (you)' : ''}
        {fullName === '' ? null : (
          <div className={classes.quiet}>
            <DeviceText value={fullName} />
          </div>
        )}
      </span>
    </span>
  )
}

/** The accounts: an Administrator changes all, a Manager those of profile User. */
export const AccountsPage = () => {
  useTitle('Accounts')
  const { api, session } = useServices()
  const state = useSession()
  const navigate = useNavigate()
  const now = useNow()
  const { open } = useSearch({ from: '/inside/settings/accounts' })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const accounts = useQuery({ queryKey: ['accounts'], queryFn: ({ signal }) => api.call(getAllUsers, { signal }) })
  const me = state.phase === 'in' ? state.profile.account : null
  const canWrite = session.may('accounts:write')
  const mayChange = (account: AccountView) =>
    canWrite && me !== null && (me.userProfile === 10 || account.userProfile === 30)
  const mayDelete = (account: AccountView) => mayChange(account) && account.userName !== me?.userName
  const mayReset = (account: AccountView) =>
    account.mfaEnabled && session.may('config:write') && account.userName !== me?.userName
  const maySuspend = (account: AccountView) => session.may('config:write') && account.userName !== me?.userName
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
        await accounts.refetch()
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
        await accounts.refetch()
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
        await accounts.refetch()
      },
    })
  const show = (userName: string | undefined) => void navigate({ to: '.', search: { open: userName } })
  const opened = open === undefined ? undefined : accounts.data?.find(({ userName }) => userName === open)

  return (
    <SettingsPage
      title="Accounts"
      intro="Administrators do everything; Managers act on hosts and on accounts of profile User; Users read."
      actions={
        <>
          {chosen.size > 0 ? (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() =>
                confirm({
                  title: 'Delete accounts',
                  names: [...chosen],
                  kind: ['account', 'accounts'],
                  consequence: 'their sessions and tokens end within a second. This can not be taken back.',
                  action: 'Delete',
                  run: async () => {
                    const { accepted } = await api.call(deleteUsers, { body: [...chosen] })
                    setChosen(new Set())
                    tell(`${accepted.length} deleted.`)
                    await accounts.refetch()
                  },
                })
              }
            >
              Delete {chosen.size}…
            </Button>
          ) : null}
          {canWrite ? (
            <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={() => show('*new')}>
              New account
            </Button>
          ) : null}
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, getAllUsers)} />
        </>
      }
    >
      {accounts.error === null ? null : (
        <ErrorState failure={accounts.error} retry={() => void accounts.refetch()} inline />
      )}
      <SmallTable
        label="Accounts"
        head={['', 'User', 'Profile', 'Sign-in', 'State', 'Last sign-in', { title: ' ', align: 'right' }]}
        rows={accounts.data?.map((account) => ({
          key: account.userName,
          quiet: !account.isEnabled,
          cells: [
            mayDelete(account) ? (
              <Checkbox
                key="choose"
                aria-label={`Choose ${account.userName}`}
                checked={chosen.has(account.userName)}
                onChange={(event) => {
                  const next = new Set(chosen)
                  if (event.currentTarget.checked) next.add(account.userName)
                  else next.delete(account.userName)
                  setChosen(next)
                }}
              />
            ) : null,
            <Who key="user" account={account} isMe={account.userName === me?.userName} />,
            profileNames[account.userProfile],
            <SignInOf key="sign-in" {...account} />,
            <StateOf key="state" account={account} now={now} />,
            <Time key="last" value={account.lastSignIn} absent="never" />,
            <span key="actions" className={classes.actions}>
              {mayChange(account) ? (
                <Button size="compact-xs" variant="default" onClick={() => show(account.userName)}>
                  Change
                </Button>
              ) : null}
              {mayReset(account) || maySuspend(account) ? (
                <MoreMenu label={`More for ${account.userName}`}>
                  {maySuspend(account) ? (
                    isSuspended(account, now) ? (
                      <Menu.Item leftSection={<Icon name="key" />} onClick={() => lift(account)}>
                        Lift suspension…
                      </Menu.Item>
                    ) : (
                      <Menu.Item leftSection={<Icon name="lock" />} onClick={() => suspend(account)}>
                        Suspend for 24 hours…
                      </Menu.Item>
                    )
                  ) : null}
                  {mayReset(account) ? (
                    <Menu.Item leftSection={<Icon name="key" />} onClick={() => reset(account)}>
                      Reset second factor…
                    </Menu.Item>
                  ) : null}
                </MoreMenu>
              ) : null}
            </span>,
          ],
        }))}
        empty="No accounts."
      />
      <Modal
        opened={open === '*new' || opened !== undefined}
        onClose={() => show(undefined)}
        title={open === '*new' ? 'New account' : 'Change account'}
      >
        {open === '*new' || opened !== undefined ? (
          <AccountForm
            key={open}
            account={opened ?? null}
            own={me?.userProfile ?? 30}
            isMe={opened?.userName === me?.userName}
            close={() => show(undefined)}
            onSaved={() => void accounts.refetch()}
          />
        ) : null}
      </Modal>
    </SettingsPage>
  )
}
