import { Modal } from '@mantine/core'
import { removePasskey, removeTotp, renewRecoveryCodes } from '@portcullis/contract'
import { useServices } from '../../../lib/services.tsx'
import { DeviceText } from '../../../ui/DeviceText.tsx'
import { strings } from '../strings.ts'
import { AddApp } from './AddApp.tsx'
import { AddPasskey } from './AddPasskey.tsx'
import { ByPassword } from './ByPassword.tsx'
import type { Passkey } from './Passkeys.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'

/** What is being added, removed or shown. */
export type OpenFactor =
  | { kind: 'app' | 'passkey' | 'renew' | 'removeApp' }
  | { kind: 'removePasskey'; passkey: Passkey }
  | { kind: 'codes'; codes: readonly string[] }

const titles: Record<OpenFactor['kind'], string> = {
  app: strings.addAnAuthenticatorApp,
  passkey: strings.addAPasskey,
  renew: strings.makeNewRecoveryCodes,
  removeApp: strings.removeTheAuthenticatorApp,
  removePasskey: strings.removeAPasskey,
  codes: strings.keepYourRecoveryCodes,
}

const last = ' It is your last second factor: the password alone will sign you in.'

interface BodyProps {
  open: OpenFactor
  /** One factor is left: removing it leaves the password alone. */
  isLast: boolean
  close: () => void
  /** After a change: what to say, and the codes if some were made. */
  onChanged: (message: string, codes?: readonly string[]) => void
}

const Body = ({ open, isLast, close, onChanged }: BodyProps) => {
  const { api } = useServices()
  switch (open.kind) {
    case 'app':
      return <AddApp close={close} onAdded={(codes) => onChanged(strings.theAuthenticatorAppIsInUse, codes)} />
    case 'passkey':
      return <AddPasskey close={close} onAdded={(codes) => onChanged(strings.thePasskeyIsInUse, codes)} />
    case 'codes':
      return <RecoveryCodes codes={open.codes} close={close} />
    case 'renew':
      return (
        <ByPassword
          action="Make new codes"
          close={close}
          run={async (password) => {
            const { recoveryCodes } = await api.call(renewRecoveryCodes, { body: { password } })
            onChanged(strings.newRecoveryCodesAreMade, recoveryCodes)
          }}
        >
          {strings.tenNewCodesAreMadeAnd}
        </ByPassword>
      )
    case 'removeApp':
      return (
        <ByPassword
          action="Remove the app"
          hurts
          close={close}
          run={async (password) => {
            await api.call(removeTotp, { body: { password } })
            onChanged(strings.theAuthenticatorAppIsRemoved)
          }}
        >
          {strings.itsCodesAreAskedForNo({ value: isLast ? last : '' })}
        </ByPassword>
      )
    case 'removePasskey':
      return (
        <ByPassword
          action="Remove the passkey"
          hurts
          close={close}
          run={async (password) => {
            await api.call(removePasskey, { body: { password, id: open.passkey.id } })
            onChanged(strings.thePasskeyIsRemoved)
          }}
        >
          {strings.devicetextIsAcceptedNoMoreDelete({
            deviceText: <DeviceText value={open.passkey.name} />,
            value: isLast ? last : '',
          })}
        </ByPassword>
      )
  }
}

/** The dialog in which a second factor is added or removed, and new recovery codes are shown. */
export const FactorDialog = ({ open, ...rest }: Omit<BodyProps, 'open'> & { open: OpenFactor | null }) => (
  <Modal
    opened={open !== null}
    onClose={rest.close}
    title={open === null ? undefined : titles[open.kind]}
    closeOnClickOutside={false}
    // What is shown once is closed by the one who says that it is kept.
    closeOnEscape={open?.kind !== 'codes'}
    withCloseButton={open?.kind !== 'codes'}
  >
    {open === null ? null : <Body key={open.kind} open={open} {...rest} />}
  </Modal>
)
