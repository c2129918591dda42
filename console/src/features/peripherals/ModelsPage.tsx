import {
  getPeripheralModels,
  type PeripheralModel,
  peripheralsAggExport,
  peripheralsAggExportPdf,
} from '@portcullis/contract'
import { ListPage } from '../../ui/list/ListPage.tsx'
import { useList } from '../../ui/list/useList.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { modelAddress, modelColumns, modelFilters, modelsView } from './models.view.tsx'
import { NoDevices } from './NoDevices.tsx'
import { strings } from './strings.ts'
import { ViewSwitch } from './ViewSwitch.tsx'

const idOf = (model: PeripheralModel) => `${model.vid}:${model.pid}`

/** Lists the device models of the fleet. */
export const ModelsPage = () => {
  useTitle(strings.modelsTitle)
  const list = useList('/inside/peripherals/models', modelsView, getPeripheralModels, idOf)
  return (
    <ListPage
      title={strings.devices}
      list={list}
      actions={<ViewSwitch />}
      filters={modelFilters}
      searchPlaceholder={strings.searchModels}
      exports={{ name: 'peripherals', report: 'models', csv: peripheralsAggExport, pdf: peripheralsAggExportPdf }}
      label={strings.models}
      columns={modelColumns}
      topics={['peripherals']}
      hrefOf={modelAddress}
      opensPage
      empty={<NoDevices />}
    />
  )
}
