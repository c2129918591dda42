import { Button, Modal } from '@mantine/core'
import { getMfa, removePasskey, removeTotp, renewRecoveryCodes } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { passkeysWork } from '../../../lib/passkeys.ts'
import { useServices, useSession } from '../../../lib/services.tsx'
import { DeviceText } from '../../../ui/DeviceText.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { PlainLink } from '../../../ui/PlainLink.tsx'
import { tell } from '../../../ui/tell.ts'
import { AddApp } from './AddApp.tsx'
import { AddPasskey } from './AddPasskey.tsx'
import { ByPassword } from './ByPassword.tsx'
import { type Passkey, Passkeys } from './Passkeys.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'
import classes from './second-factor.module.css'

type Open =
  | { kind: 'app' | 'passkey' | 'renew' | 'removeApp' }
  | { kind: 'removePasskey'; passkey: Passkey }
  | { kind: 'codes'; codes: readonly string[] }

const titles: Record<Open['kind'], string> = {
  app: 'Add an authenticator app',
  passkey: 'Add a passkey',
  renew: 'Make new recovery codes',
  removeApp: 'Remove the authenticator app',
  removePasskey: 'Remove a passkey',
  codes: 'Keep your recovery codes',
}

/** Below this many it is time for new ones. */
const fewCodes = 3

const last = ' It is your last second factor: the password alone will sign you in.'

interface PartProps {
  title: string
  /** How it stands. */
  state: ReactNode
  action?: ReactNode
  children?: ReactNode
}

const Part = ({ title, state, action, children }: PartProps) => (
  <div className={classes.part}>
    <div className={classes.head}>
      <div>
        <h3>{title}</h3>
        <div className={classes.quiet}>{state}</div>
      </div>
      {action}
    </div>
    {children}
  </div>
)

const Own = () => {
  const { api, session } = useServices()
  const [open, setOpen] = useState<Open | null>(null)
  const mfa = useQuery({ queryKey: ['mfa'], queryFn: ({ signal }) => api.call(getMfa, { signal }) })
  const close = () => setOpen(null)
  /** After a change: what is there now, and the codes if some were made. */
  const changed = (message: string, codes: readonly string[] = []) => {
    tell(message)
    setOpen(codes.length === 0 ? null : { kind: 'codes', codes })
    void mfa.refetch()
    void session.reload()
  }

  if (mfa.error !== null) return <ErrorState failure={mfa.error} retry={() => void mfa.refetch()} inline />
  if (mfa.data === undefined) return <div className={classes.waiting} aria-busy="true" />
  const { totp, passkeys, recoveryCodesLeft, canUsePasskeys } = mfa.data
  const factors = passkeys.length + (totp ? 1 : 0)
  const noPasskeys = canUsePasskeys ? (
    passkeysWork() ? null : (
      'Passkeys need HTTPS: open this page at an https:// address, in a browser that knows them.'
    )
  ) : (
    <>
      Passkeys are bound to a name, and this server is reached by an address.{' '}
      {session.may('config:write') ? (
        <>
          Set its <PlainLink href="/settings/domain">domain name</PlainLink> first.
        </>
      ) : (
        'An Administrator sets its domain name.'
      )}
    </>
  )

  return (
    <>
      <p className={classes.quiet}>
        {factors === 0
          ? 'Only the password protects your account. With a second factor a stolen password is not enough.'
          : 'A sign-in asks for one of these after the password.'}
      </p>
      <Part
        title="Authenticator app"
        state={totp ? 'In use.' : 'Not set up.'}
        action={
          totp ? (
            <Button size="xs" variant="default" onClick={() => setOpen({ kind: 'removeApp' })}>
              Remove the app…
            </Button>
          ) : (
            <Button size="xs" variant="default" onClick={() => setOpen({ kind: 'app' })}>
              Add an authenticator app
            </Button>
          )
        }
      />
      <Part
        title="Passkeys"
        state={noPasskeys ?? (passkeys.length === 0 ? 'None.' : 'Held by a device, or by a security key.')}
        action={
          <Button
            size="xs"
            variant="default"
            disabled={noPasskeys !== null}
            onClick={() => setOpen({ kind: 'passkey' })}
          >
            Add a passkey
          </Button>
        }
      >
        {passkeys.length === 0 ? null : (
          <Passkeys passkeys={passkeys} remove={(passkey) => setOpen({ kind: 'removePasskey', passkey })} />
        )}
      </Part>
      {factors === 0 ? null : (
        <Part
          title="Recovery codes"
          state={`${recoveryCodesLeft} left${recoveryCodesLeft < fewCodes ? ': make new ones now' : ''}.`}
          action={
            <Button size="xs" variant="default" onClick={() => setOpen({ kind: 'renew' })}>
              Make new codes…
            </Button>
          }
        />
      )}
      <Modal
        opened={open !== null}
        onClose={close}
        title={open === null ? undefined : titles[open.kind]}
        closeOnClickOutside={false}
        // What is shown once is closed by the one who says that it is kept.
        closeOnEscape={open?.kind !== 'codes'}
        withCloseButton={open?.kind !== 'codes'}
      >
        {open?.kind === 'app' ? (
          <AddApp close={close} onAdded={(codes) => changed('The authenticator app is in use.', codes)} />
        ) : null}
        {open?.kind === 'passkey' ? (
          <AddPasskey close={close} onAdded={(codes) => changed('The passkey is in use.', codes)} />
        ) : null}
        {open?.kind === 'codes' ? <RecoveryCodes codes={open.codes} close={close} /> : null}
        {open?.kind === 'renew' ? (
          <ByPassword
            action="Make new codes"
            close={close}
            run={async (password) => {
              const { recoveryCodes } = await api.call(renewRecoveryCodes, { body: { password } })
              changed('New recovery codes are made.', recoveryCodes)
            }}
          >
            Ten new codes are made, and the older ones count no more.
          </ByPassword>
        ) : null}
        {open?.kind === 'removeApp' ? (
          <ByPassword
            action="Remove the app"
            hurts
            close={close}
            run={async (password) => {
              await api.call(removeTotp, { body: { password } })
              changed('The authenticator app is removed.')
            }}
          >
            Its codes are asked for no more, and not accepted.{factors === 1 ? last : ''}
          </ByPassword>
        ) : null}
        {open?.kind === 'removePasskey' ? (
          <ByPassword
            action="Remove the passkey"
            hurts
            close={close}
            run={async (password) => {
              await api.call(removePasskey, { body: { password, id: open.passkey.id } })
              changed('The passkey is removed.')
            }}
          >
            <DeviceText value={open.passkey.name} /> is accepted no more. Delete it on its device too.
            {factors === 1 ? last : ''}
          </ByPassword>
        ) : null}
      </Modal>
    </>
  )
}

/** What a sign-in to the own account asks for after the password. */
export const SecondFactor = () => {
  const state = useSession()
  if (state.phase !== 'in') return null
  const { authSource } = state.profile.account
  return authSource === 'Local' ? (
    <Own />
  ) : (
    <p className={classes.quiet}>
      Your account is of the {authSource === 'LDAP' ? 'directory' : 'identity provider'}: a second factor is set up
      there.
    </p>
  )
}
