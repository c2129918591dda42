import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { EnrollmentToken } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Maximum number of host names in the text. */
const shown = 10

/** Shows the listed hosts of a token that have not enrolled. Shows nothing for a token without a list. */
export const MissingHosts = ({ list }: { list: EnrollmentToken['list'] }) => {
  if (list === undefined || list.missing === 0) return null
  const { missing, missingNames } = list
  const names = missingNames.slice(0, shown).join(', ')
  return (
    <span>
      {strings.notEnrolledYet({
        missing,
        names: <DeviceText value={missing > shown ? `${names}…` : names} />,
      })}
    </span>
  )
}
