import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { HostFinding } from '#features/contract.ts'

const shownNames = 5

/** Lists the devices and hosts of the first findings, and counts the others. */
export const FindingNames = ({ findings }: { findings: readonly HostFinding[] }) => (
  <Note as="ul" style={{ margin: 0, paddingLeft: 18 }}>
    {findings.slice(0, shownNames).map(({ id, guiVid, guiPid, vid, pid, hostIdentifier }) => (
      <li key={id}>
        <DeviceText value={`${guiPid || guiVid || `${vid}:${pid}`} · ${hostIdentifier}`} />
      </li>
    ))}
    {findings.length > shownNames ? <li>{`+ ${findings.length - shownNames}`}</li> : null}
  </Note>
)
