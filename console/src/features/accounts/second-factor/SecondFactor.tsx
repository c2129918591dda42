import { Button } from '@mantine/core'
import { getMfa } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { passkeysWork } from '../../../lib/passkeys.ts'
import { useServices, useSession } from '../../../lib/services.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { PlainLink } from '../../../ui/PlainLink.tsx'
import { tell } from '../../../ui/tell.ts'
import { FactorDialog, type OpenFactor } from './FactorDialog.tsx'
import { Passkeys } from './Passkeys.tsx'
import classes from './second-factor.module.css'

/** Below this many it is time for new ones. */
const fewCodes = 3

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

/** What the account has, what is open, and what follows a change. */
const useSecondFactor = () => {
  const { api, session } = useServices()
  const [open, setOpen] = useState<OpenFactor | null>(null)
  const mfa = useQuery({ queryKey: ['mfa'], queryFn: ({ signal }) => api.call(getMfa, { signal }) })
  /** After a change: what is there now, and the codes if some were made. */
  const changed = (message: string, codes: readonly string[] = []) => {
    tell(message)
    setOpen(codes.length === 0 ? null : { kind: 'codes', codes })
    void mfa.refetch()
    void session.reload()
  }
  return { mfa, open, setOpen, changed }
}

const ToOpen = ({ words, open, disabled = false }: { words: string; open: () => void; disabled?: boolean }) => (
  <Button size="xs" variant="default" disabled={disabled} onClick={open}>
    {words}
  </Button>
)

/** Why no passkey can be added here; null when one can. */
const noPasskeys = (canUsePasskeys: boolean, canSetDomain: boolean): ReactNode => {
  if (canUsePasskeys)
    return passkeysWork()
      ? null
      : 'Passkeys need HTTPS: open this page at an https:// address, in a browser that knows them.'
  return (
    <>
      Passkeys are bound to a name, and this server is reached by an address.{' '}
      {canSetDomain ? (
        <>
          Set its <PlainLink href="/settings/domain">domain name</PlainLink> first.
        </>
      ) : (
        'An Administrator sets its domain name.'
      )}
    </>
  )
}

const Own = () => {
  const { session } = useServices()
  const { mfa, open, setOpen, changed } = useSecondFactor()
  if (mfa.error !== null) return <ErrorState failure={mfa.error} retry={() => void mfa.refetch()} inline />
  if (mfa.data === undefined) return <div className={classes.waiting} aria-busy="true" />
  const { totp, passkeys, recoveryCodesLeft, canUsePasskeys } = mfa.data
  const factors = passkeys.length + (totp ? 1 : 0)
  const why = noPasskeys(canUsePasskeys, session.may('config:write'))
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
            <ToOpen words="Remove the app…" open={() => setOpen({ kind: 'removeApp' })} />
          ) : (
            <ToOpen words="Add an authenticator app" open={() => setOpen({ kind: 'app' })} />
          )
        }
      />
      <Part
        title="Passkeys"
        state={why ?? (passkeys.length === 0 ? 'None.' : 'Held by a device, or by a security key.')}
        action={<ToOpen words="Add a passkey" disabled={why !== null} open={() => setOpen({ kind: 'passkey' })} />}
      >
        {passkeys.length === 0 ? null : (
          <Passkeys passkeys={passkeys} remove={(passkey) => setOpen({ kind: 'removePasskey', passkey })} />
        )}
      </Part>
      {factors === 0 ? null : (
        <Part
          title="Recovery codes"
          state={`${recoveryCodesLeft} left${recoveryCodesLeft < fewCodes ? ': make new ones now' : ''}.`}
          action={<ToOpen words="Make new codes…" open={() => setOpen({ kind: 'renew' })} />}
        />
      )}
      <FactorDialog open={open} isLast={factors === 1} close={() => setOpen(null)} onChanged={changed} />
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
