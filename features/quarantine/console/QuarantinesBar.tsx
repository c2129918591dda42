import { Button } from '@mantine/core'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import type { Selection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import type { Quarantine } from '#features/contract.ts'
import { type Decision, isClearable, isWaiting, useQuarantineActions } from './quarantine-actions.ts'
import { strings } from './strings.ts'

export interface QuarantinesBarProps {
  selection: Selection<Quarantine>
  filtered: number | null
}

/** The actions for the selected quarantines: those that at least one of them allows. */
export const QuarantinesBar = ({ selection, filtered }: QuarantinesBarProps) => {
  const decide = useQuarantineActions(selection.clear)
  const rows = selection.rows()
  const offered: readonly (readonly [Decision, string])[] = [
    ...(rows.some(isWaiting)
      ? ([
          ['approve', strings.quarantineMenu],
          ['dismiss', strings.dismissMenu],
        ] as const)
      : []),
    ...(rows.some(isClearable) ? ([['clear', strings.releaseMenu]] as const) : []),
  ]
  return (
    <SelectionBar selection={selection} filtered={filtered}>
      {offered.map(([decision, label]) => (
        <Button key={decision} size="compact-sm" variant="default" onClick={() => decide(decision, rows)}>
          {label}
        </Button>
      ))}
      {rows.length > 0 && offered.length === 0 ? <span>{strings.nothingToDecide}</span> : null}
    </SelectionBar>
  )
}
