import { Button } from '@mantine/core'
import { modelAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import {
  getPeripheralModels,
  type PeripheralModel,
  peripheralsAggExport,
  peripheralsAggExportPdf,
} from '#features/contract.ts'
import { ExportMenu } from '#features/reports/console/shared/ExportMenu.tsx'
import { modelsTable } from './models.view.tsx'
import { NoDevices } from './NoDevices.tsx'
import { strings } from './strings.ts'
import { useModelDecision } from './useModelDecision.ts'
import { ViewSwitch } from './ViewSwitch.tsx'

const BulkDecideDialog = lazilyDialog(
  async () => (await import('#features/policy/console/shared/BulkDecideDialog.tsx')).BulkDecideDialog,
)

const idOf = (model: PeripheralModel) => `${model.vid}:${model.pid}`

/** Lists the device models of the fleet. */
export const ModelsPage = () => {
  useTitle(strings.modelsTitle)
  const { session } = useServices()
  const list = useList('/inside/peripherals/models', modelsTable.view, getPeripheralModels, idOf)
  const filtered = list.counts?.filtered ?? null
  const selection = useSelection(list.source, { filtered })
  const decision = useModelDecision(selection.rows)
  const canWrite = session.may('fleet:write')
  return (
    <ListPage
      title={strings.devices}
      list={list}
      actions={<ViewSwitch />}
      searchPlaceholder={strings.searchModels}
      exports={(rows) => (
        <ExportMenu
          {...rows}
          name="peripherals"
          report="models"
          csv={peripheralsAggExport}
          pdf={peripheralsAggExportPdf}
        />
      )}
      label={strings.models}
      table={modelsTable}
      topics={['peripherals']}
      hrefOf={modelAddress}
      opensPage
      selection={canWrite ? selection : undefined}
      empty={<NoDevices />}
      bar={
        canWrite ? (
          <SelectionBar selection={selection} filtered={filtered}>
            <Button size="compact-sm" variant="default" loading={decision.busy} onClick={() => decision.ask('allow')}>
              {strings.askApprove}
            </Button>
            <Button size="compact-sm" variant="default" disabled={decision.busy} onClick={() => decision.ask('deny')}>
              {strings.askDeny}
            </Button>
            <BulkDecideDialog question={decision.question} close={decision.close} />
          </SelectionBar>
        ) : null
      }
    />
  )
}
