import { Button } from '@mantine/core'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Note, Row, Skeleton, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { type ReactNode, useState } from 'react'
import { getMfa } from '#features/contract.ts'
import { passkeysWork } from '../../shared/passkeys.ts'
import { strings } from '../strings.ts'
import { FactorDialog, type OpenFactor } from './FactorDialog.tsx'
import { Passkeys } from './Passkeys.tsx'

/** With fewer codes left, the page asks for new ones. */
const fewCodes = 3

interface PartProps {
  title: string
  state: ReactNode
  action?: ReactNode
  children?: ReactNode
}

const Part = ({ title, state, action, children }: PartProps) => (
  <Stack style={{ paddingTop: 16, borderTop: '1px solid var(--pc-line)' }}>
    <Row justify="space-between" gap={16}>
      <div>
        <h3>{title}</h3>
        <Text as="div" quiet>
          {state}
        </Text>
      </div>
      {action}
    </Row>
    {children}
  </Stack>
)

/** Reads the second factors and holds the open dialog. */
const useSecondFactor = () => {
  const { session } = useServices()
  const [open, setOpen] = useState<OpenFactor | null>(null)
  const mfa = useRead(['mfa'], getMfa)
  /** Shows the message after a change, and new recovery codes if there are any. */
  const changed = (message: string, codes: readonly string[] = []) => {
    tell(message)
    setOpen(codes.length === 0 ? null : { kind: 'codes', codes })
    void mfa.refetch()
    void session.reload()
  }
  return { mfa, open, setOpen, changed }
}

const OpenButton = ({ label, open, disabled = false }: { label: string; open: () => void; disabled?: boolean }) => (
  <Button size="xs" variant="default" disabled={disabled} onClick={open}>
    {label}
  </Button>
)

/** Returns why no passkey can be added here, or null. */
const noPasskeys = (canUsePasskeys: boolean, canSetDomain: boolean): ReactNode => {
  if (canUsePasskeys) return passkeysWork() ? null : strings.passkeysNeedHttps
  return canSetDomain
    ? strings.passkeysNeedDomainLink({ link: (text) => <PlainLink href="/settings/domain">{text}</PlainLink> })
    : strings.passkeysNeedDomain
}

const Own = () => {
  const { session } = useServices()
  const { mfa, open, setOpen, changed } = useSecondFactor()
  if (mfa.error !== null) return <ErrorState query={mfa} inline />
  if (mfa.data === undefined) return <Skeleton height={160} />
  const { totp, passkeys, recoveryCodesLeft, canUsePasskeys } = mfa.data
  const factors = passkeys.length + (totp ? 1 : 0)
  const why = noPasskeys(canUsePasskeys, session.may('config:write'))
  return (
    <>
      <Note>{factors === 0 ? strings.onlyPassword : strings.secondFactorText}</Note>
      <Part
        title={strings.authenticatorApp}
        state={totp ? strings.inUse : strings.notSetUp}
        action={
          totp ? (
            <OpenButton label={strings.removeAppMenu} open={() => setOpen({ kind: 'removeApp' })} />
          ) : (
            <OpenButton label={strings.addApp} open={() => setOpen({ kind: 'app' })} />
          )
        }
      />
      <Part
        title={strings.passkeys}
        state={why ?? (passkeys.length === 0 ? strings.none : strings.passkeysStored)}
        action={
          <OpenButton label={strings.addPasskey} disabled={why !== null} open={() => setOpen({ kind: 'passkey' })} />
        }
      >
        {passkeys.length === 0 ? null : (
          <Passkeys passkeys={passkeys} remove={(passkey) => setOpen({ kind: 'removePasskey', passkey })} />
        )}
      </Part>
      {factors === 0 ? null : (
        <Part
          title={strings.recoveryCodes}
          state={(recoveryCodesLeft < fewCodes ? strings.fewCodesLeft : strings.codesLeft)({
            count: recoveryCodesLeft,
          })}
          action={<OpenButton label={strings.createCodesMenu} open={() => setOpen({ kind: 'renew' })} />}
        />
      )}
      <FactorDialog open={open} isLast={factors === 1} close={() => setOpen(null)} onChanged={changed} />
    </>
  )
}

/** Shows the second factors of the signed-in user. */
export const SecondFactor = () => {
  const state = useSession()
  if (state.phase !== 'in') return null
  const { authSource } = state.profile.account
  return authSource === 'Local' ? (
    <Own />
  ) : (
    <Note>{authSource === 'LDAP' ? strings.factorInDirectory : strings.factorAtProvider}</Note>
  )
}
