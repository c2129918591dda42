import { Button } from '@mantine/core'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import type { Selection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import type { ConnectionStatus } from '#features/contract.ts'
import { useConnectionActions } from './connection-actions.ts'
import { strings } from './strings.ts'

export interface ConnectionsBarProps {
  selection: Selection<ConnectionStatus>
  filtered: number | null
}

/** The actions for the selected hosts. */
export const ConnectionsBar = ({ selection, filtered }: ConnectionsBarProps) => {
  const actions = useConnectionActions(selection.clear)
  const names = () => [...selection.ids]
  return (
    <SelectionBar selection={selection} filtered={filtered}>
      <Button size="compact-sm" variant="default" onClick={() => actions.poll(names())}>
        {strings.pollNow}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => actions.stop(names())}>
        {strings.stopPollingMenu}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => actions.remove(names())}>
        {strings.askDelete}
      </Button>
    </SelectionBar>
  )
}
