import type { Services } from '@portcullis/platform/console/lib/services.tsx'
import { tell, tellFailure, tellWithUndo } from '@portcullis/platform/console/ui/tell.ts'
import { type HostFinding, reopenFindings } from '#features/contract.ts'
import { strings } from './strings.ts'

type Caller = Pick<Services, 'api'>
const idsOf = (findings: readonly HostFinding[]) => findings.map(({ id }) => id)

/** Says that findings were closed, and offers undo. */
export const tellClosed = ({ api }: Caller, findings: readonly HostFinding[], onChanged: () => void): void =>
  tellWithUndo(strings.closed({ count: findings.length }), async () => {
    await api.call(reopenFindings, { body: { ids: idsOf(findings) } })
    onChanged()
  })

export const reopen = ({ api }: Caller, findings: readonly HostFinding[], onChanged: () => void): void => {
  api
    .call(reopenFindings, { body: { ids: idsOf(findings) } })
    .then(() => {
      tell(strings.reopened({ count: findings.length }))
      onChanged()
    })
    .catch(tellFailure)
}
