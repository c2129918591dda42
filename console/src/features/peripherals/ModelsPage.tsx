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

/** Every model of device in the fleet, and how common it is. */
export const ModelsPage = () => {
  useTitle(strings.modelsOfPeripherals)
  const list = useList('/inside/peripherals/models', modelsView, getPeripheralModels, idOf)
  return (
    <ListPage
      title={strings.peripherals}
      list={list}
      actions={<ViewSwitch />}
      filters={modelFilters}
      searchPlaceholder={strings.productVendorId}
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
