import {
  getPeripheralModels,
  type PeripheralModel,
  peripheralsAggExport,
  peripheralsAggExportPdf,
} from '@portcullis/contract'
import { useMemo, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { ExportMenu } from '../../ui/ExportMenu.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { exportKeysOf } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { modelAddress, modelColumns, modelFilters, modelsView } from './models.view.tsx'
import { NoDevices } from './NoDevices.tsx'
import { ViewSwitch } from './ViewSwitch.tsx'

const idOf = (model: PeripheralModel) => `${model.vid}:${model.pid}`

/** Every model of device in the fleet, and how common it is. */
export const ModelsPage = () => {
  useTitle('Models of peripherals')
  const { api } = useServices()
  const view = useView('/inside/peripherals/models', modelsView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, modelsView), [filters, search, sort])
  const source = useMemo(() => listSource(api, getPeripheralModels, query, idOf), [api, query])
  return (
    <ListFrame
      title="Peripherals"
      counts={counts}
      actions={<ViewSwitch />}
      filters={
        <FilterBar view={view} filters={modelFilters} searchPlaceholder="Product, vendor, id">
          <ColumnsMenu columns={modelColumns} view={view} />
          <ExportMenu
            name="peripherals"
            report="models"
            csv={peripheralsAggExport}
            pdf={peripheralsAggExportPdf}
            query={query}
            columns={exportKeysOf(modelColumns, view.state.columns)}
            rows={counts?.filtered ?? null}
          />
          <MoreMenu
            label="More"
            curl={() => curlOf(window.location.origin, getPeripheralModels, { query: { ...query, PageSize: 100 } })}
          />
        </FilterBar>
      }
      table={
        <DataTable
          label="Models"
          columns={modelColumns}
          source={source}
          view={view}
          topics={['peripherals']}
          hrefOf={modelAddress}
          opensPage
          empty={<NoDevices />}
          onCounts={setCounts}
        />
      }
    />
  )
}
