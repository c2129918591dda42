import { Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { removePasskey, removeTotp, renewRecoveryCodes } from '#features/contract.ts'
import { strings } from '../strings.ts'
import { AddApp } from './AddApp.tsx'
import { AddPasskey } from './AddPasskey.tsx'
import { ByPassword } from './ByPassword.tsx'
import type { Passkey } from './Passkeys.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'

/** The open dialog. */
export type OpenFactor =
  | { kind: 'app' | 'passkey' | 'renew' | 'removeApp' }
  | { kind: 'removePasskey'; passkey: Passkey }
  | { kind: 'codes'; codes: readonly string[] }

const titles: Record<OpenFactor['kind'], string> = {
  app: strings.addApp,
  passkey: strings.addPasskey,
  renew: strings.renewTitle,
  removeApp: strings.removeAppTitle,
  removePasskey: strings.removePasskey,
  codes: strings.saveCodesTitle,
}

interface BodyProps {
  open: OpenFactor
  /** One factor is left: without it, only the password protects the account. */
  isLast: boolean
  close: () => void
  /** Called after a change with the message to show, and with new recovery codes if there are any. */
  onChanged: (message: string, codes?: readonly string[]) => void
}

const Body = ({ open, isLast, close, onChanged }: BodyProps) => {
  const { api } = useServices()
  switch (open.kind) {
    case 'app':
      return <AddApp close={close} onAdded={(codes) => onChanged(strings.appAdded, codes)} />
    case 'passkey':
      return <AddPasskey close={close} onAdded={(codes) => onChanged(strings.passkeyAdded, codes)} />
    case 'codes':
      return <RecoveryCodes codes={open.codes} close={close} />
    case 'renew':
      return (
        <ByPassword
          action={strings.createCodes}
          close={close}
          run={async (password) => {
            const { recoveryCodes } = await api.call(renewRecoveryCodes, { body: { password } })
            onChanged(strings.codesCreated, recoveryCodes)
          }}
        >
          {strings.renewText}
        </ByPassword>
      )
    case 'removeApp':
      return (
        <ByPassword
          action={strings.removeApp}
          hurts
          close={close}
          run={async (password) => {
            await api.call(removeTotp, { body: { password } })
            onChanged(strings.appRemoved)
          }}
        >
          {isLast ? strings.removeLastAppText : strings.removeAppText}
        </ByPassword>
      )
    case 'removePasskey':
      return (
        <ByPassword
          action={strings.removePasskey}
          hurts
          close={close}
          run={async (password) => {
            await api.call(removePasskey, { body: { password, id: open.passkey.id } })
            onChanged(strings.passkeyRemoved)
          }}
        >
          {(isLast ? strings.removeLastPasskeyText : strings.removePasskeyText)({
            name: <DeviceText value={open.passkey.name} />,
          })}
        </ByPassword>
      )
  }
}

/** The dialog in which a second factor is added or removed and new recovery codes are shown. */
export const FactorDialog = ({ open, ...rest }: Omit<BodyProps, 'open'> & { open: OpenFactor | null }) => (
  <Modal
    opened={open !== null}
    onClose={rest.close}
    title={open === null ? undefined : titles[open.kind]}
    closeOnClickOutside={false}
    // The codes are shown once, so only the button closes the dialog.
    closeOnEscape={open?.kind !== 'codes'}
    withCloseButton={open?.kind !== 'codes'}
  >
    {open === null ? null : <Body key={open.kind} open={open} {...rest} />}
  </Modal>
)
