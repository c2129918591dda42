import { Button } from '@mantine/core'
import { deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { lazily, lazilyDialog, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import { exportPeripheralsCsv, exportPeripheralsPdf, getPeripherals, type Peripheral } from '#features/contract.ts'
import type { BulkQuestion } from '#features/policy/console/shared/BulkDecideDialog.tsx'
import { bulkDevicesOf } from '#features/policy/console/shared/bulk-decide.ts'
import { ExportMenu } from '#features/reports/console/shared/ExportMenu.tsx'
import { TagEditor } from '#features/tags/console/shared/TagEditor.tsx'
import { NoDevices } from './NoDevices.tsx'
import { deviceKey, peripheralsTable } from './peripherals.view.tsx'
import { strings } from './strings.ts'
import { ViewSwitch } from './ViewSwitch.tsx'

const PeripheralDetail = lazily(
  async () => (await import('./PeripheralDetail.tsx')).PeripheralDetail,
  <DetailSkeleton />,
)

const BulkDecideDialog = lazilyDialog(
  async () => (await import('#features/policy/console/shared/BulkDecideDialog.tsx')).BulkDecideDialog,
)

const hrefOf = (device: Peripheral) => deviceAddress(device.uuid, device.deviceID)

// The key of a row is `<uuid>|<deviceID>`; a uuid has no bar.
const partsOf = (key: string): [uuid: string, deviceId: string] => {
  const bar = key.indexOf('|')
  return [key.slice(0, bar), key.slice(bar + 1)]
}

/** Lists the devices of all hosts. */
export const PeripheralsPage = () => {
  useTitle(strings.devices)
  useIdlePreload(PeripheralDetail)
  const { session, queries } = useServices()
  const [bulk, setBulk] = useState<BulkQuestion | null>(null)
  const list = useList('/inside/peripherals', peripheralsTable.view, getPeripherals, deviceKey)
  const { open } = list.view.state
  const selection = useSelection(list.source, { filtered: list.counts?.filtered ?? null })
  const canWrite = session.may('fleet:write')
  const decide = (effect: BulkQuestion['effect']) => setBulk({ effect, devices: bulkDevicesOf(selection.rows()) })
  const opened = open === null ? null : partsOf(open)

  return (
    <ListPage
      title={strings.devices}
      list={list}
      actions={<ViewSwitch />}
      searchPlaceholder={strings.searchDevices}
      exports={(rows) => (
        <ExportMenu
          {...rows}
          name="peripherals"
          report="peripherals"
          csv={exportPeripheralsCsv}
          pdf={exportPeripheralsPdf}
        />
      )}
      label={strings.devices}
      table={peripheralsTable}
      topics={['peripherals']}
      hrefOf={hrefOf}
      selection={canWrite ? selection : undefined}
      empty={<NoDevices />}
      drawer={
        opened === null ? null : (
          <SidePanel
            label={strings.device}
            fullPage={deviceAddress(...opened)}
            close={() => list.view.set({ open: null })}
          >
            <PeripheralDetail key={open} uuid={opened[0]} deviceId={opened[1]} />
          </SidePanel>
        )
      }
      bar={
        canWrite ? (
          <SelectionBar selection={selection} filtered={list.counts?.filtered ?? null}>
            <Button size="compact-sm" variant="default" onClick={() => decide('allow')}>
              {strings.askApprove}
            </Button>
            <Button size="compact-sm" variant="default" onClick={() => decide('deny')}>
              {strings.askDeny}
            </Button>
            <TagEditor
              entityType="Peripheral"
              elementIds={[...selection.ids]}
              onChanged={() => void queries.invalidateQueries({ queryKey: ['rows'] })}
            >
              {(openEditor) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={openEditor}
                  leftSection={<Icon name="tag" size={14} />}
                >
                  {strings.askTag}
                </Button>
              )}
            </TagEditor>
            <BulkDecideDialog question={bulk} close={() => setBulk(null)} />
          </SelectionBar>
        ) : null
      }
    />
  )
}
