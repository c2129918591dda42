import { listQuarantines, type Quarantine } from '@portcullis/contract'
import { useMemo, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { quarantineAddress, quarantineKey } from '../../ui/nac/words.ts'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useSelection } from '../../ui/table/useSelection.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { NoQuarantines } from './NoQuarantines.tsx'
import { QuarantineDrawer } from './QuarantineDrawer.tsx'
import { QuarantinesBar } from './QuarantinesBar.tsx'
import { quarantineColumns, quarantineFilters, quarantinesView } from './quarantines.view.tsx'

const hrefOf = (quarantine: Quarantine) => quarantineAddress(quarantine)

/** Hosts that were taken off the network, or are to be: who asked for it, how it stands, what helps where it failed. */
export const QuarantinesPage = () => {
  useTitle('Quarantines')
  const { api, session } = useServices()
  const view = useView('/inside/quarantines', quarantinesView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, quarantinesView), [filters, search, sort])
  const source = useMemo(() => listSource(api, listQuarantines, query, quarantineKey), [api, query])
  const selection = useSelection(source, { filtered: counts?.filtered ?? null })
  const canWrite = session.may('fleet:write')
  return (
    <ListFrame
      title="Quarantines"
      counts={counts}
      filters={
        <FilterBar view={view} filters={quarantineFilters} searchPlaceholder="Host, address, reason, who, failure">
          <ColumnsMenu columns={quarantineColumns} view={view} />
          <MoreMenu
            label="More"
            curl={() => curlOf(window.location.origin, listQuarantines, { query: { ...query, PageSize: 100 } })}
          />
        </FilterBar>
      }
      table={
        <DataTable
          label="Quarantines"
          columns={quarantineColumns}
          source={source}
          view={view}
          topics={['agents']}
          hrefOf={hrefOf}
          {...(canWrite ? { selection } : {})}
          empty={<NoQuarantines />}
          onCounts={setCounts}
        />
      }
      drawer={open === null ? null : <QuarantineDrawer name={open} close={() => view.set({ open: null })} />}
      selection={canWrite ? <QuarantinesBar selection={selection} filtered={counts?.filtered ?? null} /> : null}
    />
  )
}
