import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { listQuarantines, type Quarantine } from '#features/contract.ts'
import { NoQuarantines } from './NoQuarantines.tsx'
import { QuarantineDrawer } from './QuarantineDrawer.tsx'
import { QuarantinesBar } from './QuarantinesBar.tsx'
import { quarantinesTable } from './quarantines.view.tsx'
import { quarantineAddress, quarantineKey } from './shared/labels.ts'
import { strings } from './strings.ts'

const hrefOf = (quarantine: Quarantine) => quarantineAddress(quarantine)

/**
 * The hosts that are isolated from the network or waiting for it: who requested it, the state, and remedies for
 * failures.
 */
export const QuarantinesPage = () => {
  useTitle(strings.quarantines)
  const { session } = useServices()
  const list = useList('/inside/quarantines', quarantinesTable.view, listQuarantines, quarantineKey)
  const { open } = list.view.state
  const selection = useSelection(list.source, { filtered: list.counts?.filtered ?? null })
  const canWrite = session.may('fleet:write')
  return (
    <ListPage
      title={strings.quarantines}
      list={list}
      searchPlaceholder={strings.searchPlaceholder}
      label={strings.quarantines}
      table={quarantinesTable}
      topics={['agents']}
      hrefOf={hrefOf}
      selection={canWrite ? selection : undefined}
      empty={<NoQuarantines />}
      drawer={open === null ? null : <QuarantineDrawer name={open} close={() => list.view.set({ open: null })} />}
      bar={canWrite ? <QuarantinesBar selection={selection} filtered={list.counts?.filtered ?? null} /> : null}
    />
  )
}
