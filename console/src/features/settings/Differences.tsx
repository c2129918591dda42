import { DeviceText } from '../../ui/DeviceText.tsx'
import { type Difference, labelOf, placedLabelOf } from './draft.ts'
import classes from './settings.module.css'
import { strings } from './strings.ts'

const long = 120

/** A value short enough for a line; a picture and certificates are named, not shown. */
const shown = (text: string) => {
  if (text.startsWith('data:image/')) return 'a picture'
  if (text.startsWith('-----BEGIN')) return 'certificates'
  return text.length > long ? `${text.slice(0, long)}…` : text
}

export interface DifferencesProps {
  rows: readonly Difference[]
  label: string
  /** Items of several pages are mixed. */
  withPage?: boolean
}

/** Items that differ, from what to what. */
export const Differences = ({ rows, label, withPage = false }: DifferencesProps) => (
  <table className={classes.differences} aria-label={label}>
    <thead>
      <tr>
        <th scope="col">{strings.what}</th>
        <th scope="col">{strings.before}</th>
        <th scope="col">{strings.after}</th>
      </tr>
    </thead>
    <tbody>
      {rows.map(({ name, from, to }) => (
        <tr key={name}>
          <th scope="row" title={name}>
            {withPage ? placedLabelOf(name) : labelOf(name)}
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
  </table>
)
