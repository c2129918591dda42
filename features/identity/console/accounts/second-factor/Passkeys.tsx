import { Button } from '@mantine/core'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { MfaState } from '#features/contract.ts'
import { strings } from '../strings.ts'

export type Passkey = MfaState['passkeys'][number]

/** The passkeys of the signed-in user. */
export const Passkeys = ({ passkeys, remove }: { passkeys: Passkey[]; remove: (passkey: Passkey) => void }) => (
  <SmallTable
    label={strings.passkeys}
    head={[strings.name, strings.added, strings.lastUsed, right('')]}
    rows={passkeys.map((passkey) => ({
      key: passkey.id,
      cells: [
        <DeviceText key="name" value={passkey.name} />,
        <Time key="added" value={passkey.createdAt} />,
        <Time key="used" value={passkey.lastUsedAt} absent={strings.never} />,
        <Button
          key="remove"
          size="compact-xs"
          variant="default"
          aria-label={strings.removePasskeyNamed({ name: passkey.name })}
          onClick={() => remove(passkey)}
        >
          {strings.askRemove}
        </Button>,
      ],
    }))}
    empty={strings.noPasskeys}
  />
)
