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
import type { BulkQuestion as HostsQuestion } from '#features/hosts/console/shared/bulk/useBulkAction.ts'
import type { BulkQuestion } from '#features/policy/console/shared/BulkDecideDialog.tsx'
import { type BulkDevice, bulkDevicesOf } from '#features/policy/console/shared/bulk-decide.ts'
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

const BulkDialog = lazilyDialog(
  async () => (await import('#features/hosts/console/shared/bulk/BulkDialog.tsx')).BulkDialog,
)

const hrefOf = (device: Peripheral) => deviceAddress(device.uuid, device.deviceID)

// The key of a row is `<uuid>|<deviceID>`; a uuid has no bar.
const partsOf = (key: string): [uuid: string, deviceId: string] => {
  const bar = key.indexOf('|')
  return [key.slice(0, bar), key.slice(bar + 1)]
}

/** The hosts of devices that were just approved, which are usually armed next. They belong to the selection. */
const useNextStep = (selected: number) => {
  const [hosts, setHosts] = useState<readonly string[]>([])
  if (selected === 0 && hosts.length > 0) setHosts([])
  return {
    hosts,
    offer: (devices: readonly BulkDevice[]) => setHosts([...new Set(devices.map(({ uuid }) => uuid))]),
  }
}

/** Lists the devices of all hosts. */
export const PeripheralsPage = () => {
  useTitle(strings.devices)
  useIdlePreload(PeripheralDetail)
  const { session, queries } = useServices()
  const [bulk, setBulk] = useState<BulkQuestion | null>(null)
  const [arm, setArm] = useState<HostsQuestion | null>(null)
  const list = useList('/inside/peripherals', peripheralsTable.view, getPeripherals, deviceKey)
  const { open } = list.view.state
  const selection = useSelection(list.source, { filtered: list.counts?.filtered ?? null })
  const canWrite = session.may('fleet:write')
  const next = useNextStep(selection.size)
  const decide = (effect: BulkQuestion['effect']) => {
    const devices = bulkDevicesOf(selection.rows())
    setBulk({ effect, devices, done: () => next.offer(effect === 'allow' ? devices : []) })
  }
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
            {next.hosts.length === 0 ? null : (
              <>
                <span>{strings.nextStep}</span>
                <Button size="compact-sm" onClick={() => setArm({ action: 'arm', hosts: { uuids: [...next.hosts] } })}>
                  {strings.askArmHosts({ hosts: next.hosts.length })}
                </Button>
              </>
            )}
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
            <BulkDialog question={arm} close={() => setArm(null)} onDone={() => next.offer([])} />
          </SelectionBar>
        ) : null
      }
    />
  )
}
