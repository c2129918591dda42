import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { type HostFinding, hostFindingList } from '#features/contract.ts'
import { DeviceIds } from '../shared/Device.tsx'
import { FindingPlace, FindingState, FindingTag } from '../shared/findings/HostFindings.tsx'

/** Returns the address of the findings of a host. */
export const findingAddress = ({ uuid }: Pick<HostFinding, 'uuid'>): string => `${agentAddress(uuid)}?tab=risk`

export const findingsTable = listTable<HostFinding>(hostFindingList, {
  finding: (row) => <FindingTag finding={row} />,
  host: (row) => (
    <PlainLink href={findingAddress(row)}>
      <DeviceText value={row.hostIdentifier} />
    </PlainLink>
  ),
  device: (row) => <DeviceText value={row.guiPid || row.guiVid} absent={`${row.vid}:${row.pid}`} />,
  attached: (row) => <FindingPlace finding={row} />,
  verdict: (row) => <FindingState finding={row} />,
  ids: (row) => <DeviceIds device={row} />,
})
