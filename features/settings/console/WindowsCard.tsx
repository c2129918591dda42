import { Button, FileButton } from '@mantine/core'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import {
  getWindowsEnforcement,
  type ResponseOf,
  removeWindowsVerification,
  type WindowsVerificationRow,
} from '#features/contract.ts'
import { ImportVerification } from './ImportVerification.tsx'
import { strings } from './strings.ts'
import { type ChosenVerification, readVerification, stepTitle } from './windows.ts'

type Enforcement = ResponseOf<typeof getWindowsEnforcement>

/** A verification file has about 3 kB. */
const maxBytes = 64 * 1024

const Builds = ({ builds, hostsUnverified }: Enforcement) => (
  <SmallTable
    label={strings.windowsTitle}
    head={[strings.windowsBuild, right(strings.hosts), right(strings.armed), right(strings.windowsLimit)]}
    rows={builds.map(({ build, agents, armed, isVerified }) => ({
      key: build ?? '',
      cells: [
        build ?? strings.windowsUnknown,
        String(agents),
        String(armed),
        isVerified ? strings.windowsNoLimit : String(hostsUnverified),
      ],
    }))}
    empty={strings.windowsNoHosts}
  />
)

const Verifications = ({
  rows,
  remove,
}: {
  rows: readonly WindowsVerificationRow[]
  remove: ((build: string) => void) | null
}) => (
  <SmallTable
    label={strings.windowsVerifications}
    head={[
      strings.windowsBuild,
      strings.windowsEdition,
      strings.windowsVerifiedBy,
      strings.verified,
      strings.windowsByHand,
      strings.windowsImportedBy,
      '',
    ]}
    rows={rows.map((row) => ({
      key: row.build,
      cells: [
        row.osBuild,
        <DeviceText key="edition" value={row.edition} />,
        <PlainLink key="host" href={agentAddress(row.uuid)}>
          <DeviceText value={row.hostIdentifier} />
        </PlainLink>,
        <Time key="at" value={row.createdAt} />,
        <span key="hand" title={row.confirmed.map(stepTitle).join('\n')}>
          {String(row.confirmed.length)}
        </span>,
        row.importedBy,
        remove === null ? null : (
          <Button key="remove" size="compact-xs" variant="default" onClick={() => remove(row.build)}>
            {strings.windowsRemove}
          </Button>
        ),
      ],
    }))}
    empty={strings.windowsNone}
  />
)

/** Armed Windows hosts by build, and the verifications that lift their limit. Reads them again when the setting changes. */
export const WindowsCard = ({ setting }: { setting: string }) => {
  const { api, session } = useServices()
  const [chosen, setChosen] = useState<ChosenVerification | null>(null)
  const windows = useRead(['windows', setting], getWindowsEnforcement, {
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
  const reread = () => void windows.refetch()
  const choose = async (file: File | null) => {
    try {
      if (file !== null) setChosen(readVerification(await file.slice(0, maxBytes).text()))
    } catch (failure) {
      tellFailure(failure)
    }
  }
  const remove = (build: string) =>
    confirm({
      title: strings.windowsRemove,
      names: [build],
      kind: strings.buildCount,
      consequence: strings.windowsRemoveText,
      run: async () => {
        await api.call(removeWindowsVerification, { params: { build } })
        tell(strings.windowsRemoved({ build }))
        reread()
      },
    })
  if (windows.data === undefined)
    return windows.error === null ? null : <ErrorState failure={windows.error} retry={reread} inline />
  const { enabled, hostsUnverified, verifications } = windows.data
  const canWrite = session.may('config:write')
  return (
    <Stack as="section" style={{ marginBottom: 24 }} aria-label={strings.windowsTitle}>
      <Row justify="space-between" gap={12}>
        <h2>{strings.windowsTitle}</h2>
        {canWrite ? (
          <FileButton accept=".json,application/json" onChange={(file) => void choose(file)}>
            {(props) => (
              <Button {...props} size="xs" variant="default">
                {strings.windowsImport}
              </Button>
            )}
          </FileButton>
        ) : null}
      </Row>
      <p>{enabled ? strings.windowsOn({ count: hostsUnverified }) : strings.windowsOff}</p>
      <Builds {...windows.data} />
      <Verifications rows={verifications} remove={canWrite ? remove : null} />
      <ImportVerification chosen={chosen} close={() => setChosen(null)} onDone={reread} />
    </Stack>
  )
}
