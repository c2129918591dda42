import { Button } from '@mantine/core'
import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { saveFile } from '@portcullis/platform/console/ui/download.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { DownloadLog } from '#features/commands/console/shared/DownloadLog.tsx'
import type { PassportDescriptors, PassportLog } from '#features/contract.ts'
import { strings } from './strings.ts'

const bytesOf = ({ bytes }: PassportDescriptors) => Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))

const DownloadDescriptors = ({ of }: { of: PassportDescriptors }) => (
  <Button
    size="compact-xs"
    variant="default"
    leftSection={<Icon name="download" size={12} />}
    onClick={() => saveFile({ blob: new Blob([bytesOf(of)]), name: `descriptors-${of.fingerprint.slice(0, 12)}.bin` })}
  >
    {strings.download}
  </Button>
)

/** The files that tell what a device is and what its hosts logged. */
export const Evidence = ({ descriptors, logs }: { descriptors: PassportDescriptors[]; logs: PassportLog[] }) => {
  const mayReadLogs = useServices().session.may('debuglogs:read')
  return (
    <SmallTable
      label={strings.evidence}
      head={[strings.file, strings.hostName, strings.received, right(strings.size), right('')]}
      rows={[
        ...descriptors.map((one) => ({
          key: one.fingerprint,
          cells: [
            strings.descriptorsOf({ fingerprint: one.fingerprint.slice(0, 12) }),
            <DeviceText key="host" value={one.hostIdentifier} />,
            '–',
            bytesText(bytesOf(one).length),
            <DownloadDescriptors key="download" of={one} />,
          ],
        })),
        ...(mayReadLogs ? logs : []).map(({ id, uuid, hostIdentifier, collectedAt, size }) => ({
          key: id,
          cells: [
            strings.debugLog,
            <DeviceText key="host" value={hostIdentifier} />,
            <Time key="when" value={collectedAt} form="local" />,
            bytesText(size),
            <DownloadLog key="download" uuid={uuid} host={hostIdentifier} id={id} />,
          ],
        })),
      ]}
      empty={strings.noEvidence}
    />
  )
}
