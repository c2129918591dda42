import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Table } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { placedSettingLabel, settingLabel } from '#features/contract.ts'
import type { Difference } from './draft.ts'
import { strings } from './strings.ts'

const long = 120

/** Returns a value short enough for a line. Pictures and certificates are named, not shown. */
const shown = (text: string) => {
  if (text.startsWith('data:image/')) return strings.aPicture
  if (text.startsWith('-----BEGIN')) return strings.certificates
  return text.length > long ? `${text.slice(0, long)}…` : text
}

export interface DifferencesProps {
  rows: readonly Difference[]
  label: string
  /** Items of several pages are mixed. */
  withPage?: boolean
}

/** Lists the changed items with their values before and after. */
export const Differences = ({ rows, label, withPage = false }: DifferencesProps) => (
  <Table aria-label={label}>
    <thead>
      <tr>
        <th scope="col">{strings.setting}</th>
        <th scope="col">{strings.before}</th>
        <th scope="col">{strings.after}</th>
      </tr>
    </thead>
    <tbody>
      {rows.map(({ name, from, to }) => (
        <tr key={name}>
          <th scope="row" title={name}>
            {withPage ? placedSettingLabel(name) : settingLabel(name)}
          </th>
          <td>
            <del>
              <DeviceText value={shown(from)} absent={strings.notSet} />
            </del>
          </td>
          <td>
            <ins>
              <DeviceText value={shown(to)} absent={strings.notSet} />
            </ins>
          </td>
        </tr>
      ))}
    </tbody>
  </Table>
)
