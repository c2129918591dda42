import { NativeSelect } from '@mantine/core'
import { pilotHosts, pilotRevertMinutes } from '#features/contract.ts'
import { strings } from './strings.ts'

const choices = [0, 10, 60, 1_440]

const textOf = (minutes: number): string =>
  minutes === 0 ? strings.revertNever : strings.revertAfter({ minutes: String(minutes) })

interface RevertSelectProps {
  /** Undefined: the server decides. */
  value: number | undefined
  /** What the server decides; undefined if it differs between steps or is not known yet. */
  decided: number | undefined
  onChange: (minutes: number | undefined) => void
}

/** Sets whether newly armed hosts become Free again if they cannot reach the server. */
export const RevertSelect = ({ value, decided, onChange }: RevertSelectProps) => (
  <NativeSelect
    size="sm"
    label={strings.revert}
    description={value === 0 || (value === undefined && decided === 0) ? strings.revertOffHint : strings.revertOnHint}
    value={value === undefined ? '' : String(value)}
    data={[
      {
        value: '',
        label:
          decided === undefined || value !== undefined
            ? strings.revertAutomatic({ hosts: pilotHosts, minutes: pilotRevertMinutes })
            : strings.revertAutomaticNow({ choice: textOf(decided) }),
      },
      ...choices.map((minutes) => ({ value: String(minutes), label: textOf(minutes) })),
    ]}
    onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : Number(event.currentTarget.value))}
  />
)
