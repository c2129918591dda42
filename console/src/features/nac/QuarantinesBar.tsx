import { Button } from '@mantine/core'
import type { Quarantine } from '@portcullis/contract'
import { SelectionBar } from '../../ui/table/SelectionBar.tsx'
import type { Selection } from '../../ui/table/useSelection.ts'
import { type Decision, isClearable, isWaiting, useQuarantineActions } from './quarantine-actions.ts'
import { strings } from './strings.ts'

export interface QuarantinesBarProps {
  selection: Selection<Quarantine>
  filtered: number | null
}

/** What can be decided about the selected quarantines: only what one of them allows. */
export const QuarantinesBar = ({ selection, filtered }: QuarantinesBarProps) => {
  const decide = useQuarantineActions(selection.clear)
  const rows = selection.rows()
  const offered: readonly (readonly [Decision, string])[] = [
    ...(rows.some(isWaiting)
      ? ([
          ['approve', strings.quarantine],
          ['dismiss', strings.dismiss],
        ] as const)
      : []),
    ...(rows.some(isClearable) ? ([['clear', strings.takeBack]] as const) : []),
  ]
  return (
    <SelectionBar selection={selection} filtered={filtered}>
      {offered.map(([decision, words]) => (
        <Button key={decision} size="compact-sm" variant="default" onClick={() => decide(decision, rows)}>
          {words}
        </Button>
      ))}
      {rows.length > 0 && offered.length === 0 ? <span>{strings.nothingIsLeftToDecideAbout}</span> : null}
    </SelectionBar>
  )
}
