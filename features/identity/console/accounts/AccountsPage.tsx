import { Avatar, Button, Checkbox, Menu, Modal } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useNow } from '@portcullis/platform/console/ui/useNow.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type AccountView, getAllUsers, profileNames } from '#features/contract.ts'
import { AccountForm } from './AccountForm.tsx'
import { strings } from './strings.ts'
import { type AccountActions, type AccountRights, useAccountActions, useAccountRights } from './useAccountActions.ts'

/** Shows who authenticates the account, and for local accounts whether a second factor is set up. */
const SignInOf = ({ authSource, mfaEnabled }: AccountView) => (
  <>
    {authSource}
    {authSource === 'Local' ? (
      <Text as="div" quiet tiny style={{ lineHeight: '16px' }}>
        {mfaEnabled ? strings.secondFactorOn : strings.passwordOnly}
      </Text>
    ) : null}
  </>
)

/** Shows whether the account may sign in, and how long a suspension lasts. */
const StateOf = ({ account, now }: { account: AccountView; now: number }) => {
  if (!isSuspended(account, now))
    return account.isEnabled
      ? account.mustChangePassword
        ? strings.mustChange
        : strings.stateEnabled
      : strings.disabled
  return (
    <>
      <strong>{strings.suspended}</strong>
      <Text as="div" quiet tiny style={{ lineHeight: '16px' }}>
        {strings.suspendedBy({
          name: <DeviceText value={account.suspendedBy ?? ''} />,
          time: timeLeft(account, now),
        })}
      </Text>
    </>
  )
}

const isSuspended = ({ suspendedUntil }: AccountView, now: number): boolean =>
  suspendedUntil !== null && Date.parse(suspendedUntil) > now

const timeLeft = ({ suspendedUntil }: AccountView, now: number): string => {
  const minutes = Math.min(24 * 60, Math.ceil((Date.parse(suspendedUntil ?? '') - now) / 60_000))
  return minutes >= 60
    ? strings.hoursAndMinutes({ hours: Math.floor(minutes / 60), minutes: minutes % 60 })
    : strings.minutesOnly({ minutes })
}

/** URL of the form of an account. */
const accountAddress = ({ userName }: AccountView): string => `/settings/accounts?open=${encodeURIComponent(userName)}`

/** Shows the user name, and below it the full name. */
const Who = ({ account, isMe, canOpen }: { account: AccountView; isMe: boolean; canOpen: boolean }) => {
  const fullName = `${account.firstName} ${account.lastName}`.trim()
  const name = <DeviceText value={account.userName} />
  return (
    <Row as="span" breaks>
      <Avatar src={account.image || null} size={22} name={account.userName} />
      <span>
        {canOpen ? <PlainLink href={accountAddress(account)}>{name}</PlainLink> : name}
        {isMe ? ` ${strings.you}` : ''}
        {fullName === '' ? null : (
          <Text as="div" quiet tiny style={{ lineHeight: '16px' }}>
            <DeviceText value={fullName} />
          </Text>
        )}
      </span>
    </Row>
  )
}

interface ActionsProps {
  account: AccountView
  rights: AccountRights
  actions: AccountActions
  now: number
  change: () => void
}

/** The actions for one account. */
const Actions = ({ account, rights, actions, now, change }: ActionsProps) => {
  const { mayReset, maySuspend } = rights
  return (
    <Row as="span" gap={4}>
      {rights.mayChange(account) ? (
        <Button size="compact-xs" variant="default" onClick={change}>
          {strings.edit}
        </Button>
      ) : null}
      {mayReset(account) || maySuspend(account) ? (
        <MoreMenu label={strings.moreForUser({ userName: account.userName })}>
          {maySuspend(account) ? (
            isSuspended(account, now) ? (
              <Menu.Item leftSection={<Icon name="key" />} onClick={() => actions.lift(account)}>
                {strings.liftMenu}
              </Menu.Item>
            ) : (
              <Menu.Item leftSection={<Icon name="lock" />} onClick={() => actions.suspend(account)}>
                {strings.suspendMenu}
              </Menu.Item>
            )
          ) : null}
          {mayReset(account) ? (
            <Menu.Item leftSection={<Icon name="key" />} onClick={() => actions.reset(account)}>
              {strings.resetMenu}
            </Menu.Item>
          ) : null}
        </MoreMenu>
      ) : null}
    </Row>
  )
}

interface AccountsTableProps {
  accounts: readonly AccountView[] | undefined
  rights: AccountRights
  actions: AccountActions
  chosen: ReadonlySet<string>
  choose: (chosen: ReadonlySet<string>) => void
  change: (userName: string) => void
}

const AccountsTable = ({ accounts, rights, actions, chosen, choose, change }: AccountsTableProps) => {
  const now = useNow()
  const { me, mayDelete } = rights
  return (
    <SmallTable
      label={strings.accounts}
      head={['', strings.user, strings.profile, strings.signInMethod, strings.state, strings.lastSignIn, right(' ')]}
      rows={accounts?.map((account) => ({
        key: account.userName,
        href: rights.mayChange(account) ? accountAddress(account) : undefined,
        quiet: !account.isEnabled,
        cells: [
          mayDelete(account) ? (
            <Checkbox
              key="choose"
              aria-label={strings.selectUser({ userName: account.userName })}
              checked={chosen.has(account.userName)}
              onChange={(event) => {
                const next = new Set(chosen)
                if (event.currentTarget.checked) next.add(account.userName)
                else next.delete(account.userName)
                choose(next)
              }}
            />
          ) : null,
          <Who
            key="user"
            account={account}
            isMe={account.userName === me?.userName}
            canOpen={rights.mayChange(account)}
          />,
          profileNames[account.userProfile],
          <SignInOf key="sign-in" {...account} />,
          <StateOf key="state" account={account} now={now} />,
          <Time key="last" value={account.lastSignIn} absent={strings.never} />,
          <Actions
            key="actions"
            account={account}
            rights={rights}
            actions={actions}
            now={now}
            change={() => change(account.userName)}
          />,
        ],
      }))}
      empty={strings.noAccounts}
    />
  )
}

/** The accounts. Administrators edit all of them, Managers those with the profile User. */
export const AccountsPage = () => {
  useTitle(strings.accounts)
  const navigate = useNavigate()
  const { open } = useSearch({ from: '/inside/settings/accounts' })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const accounts = useRead(['accounts'], getAllUsers)
  const rights = useAccountRights()
  const { me, canWrite } = rights
  const actions = useAccountActions(() => accounts.refetch())
  const show = (userName: string | undefined) => void navigate({ to: '.', search: { open: userName } })
  const opened = open === undefined ? undefined : accounts.data?.find(({ userName }) => userName === open)

  return (
    <SettingsPage
      title={strings.accounts}
      intro={strings.accountsIntro}
      actions={
        <>
          {chosen.size > 0 ? (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => actions.remove([...chosen], () => setChosen(new Set()))}
            >
              {strings.deleteCount({ count: chosen.size })}
            </Button>
          ) : null}
          {canWrite ? (
            <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={() => show('*new')}>
              {strings.createAccount}
            </Button>
          ) : null}
          <MoreMenu curl={() => curlOf(getAllUsers)} />
        </>
      }
    >
      <ErrorState query={accounts} inline />
      <AccountsTable
        accounts={accounts.data}
        rights={rights}
        actions={actions}
        chosen={chosen}
        choose={setChosen}
        change={show}
      />
      <Modal
        opened={open === '*new' || opened !== undefined}
        onClose={() => show(undefined)}
        title={open === '*new' ? strings.createAccount : strings.editAccount}
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
