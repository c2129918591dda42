import { Button } from '@mantine/core'
import { exportPeripheralsCsv, exportPeripheralsPdf, getPeripherals, type Peripheral } from '@portcullis/contract'
import { useMemo, useState } from 'react'
import { deviceAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { ExportMenu } from '../../ui/ExportMenu.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { Icon } from '../../ui/icons.tsx'
import { lazily, useIdlePreload } from '../../ui/lazily.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import type { BulkQuestion } from '../../ui/policy/BulkDecideDialog.tsx'
import { SidePanel } from '../../ui/SidePanel.tsx'
import { TagEditor } from '../../ui/TagEditor.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { exportKeysOf } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { SelectionBar } from '../../ui/table/SelectionBar.tsx'
import { useSelection } from '../../ui/table/useSelection.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { NoDevices } from './NoDevices.tsx'
import { deviceKey, peripheralColumns, peripheralFilters, peripheralsView } from './peripherals.view.tsx'
import { ViewSwitch } from './ViewSwitch.tsx'

const PeripheralDetail = lazily(
  async () => (await import('./PeripheralDetail.tsx')).PeripheralDetail,
  <DetailSkeleton />,
)

const BulkDecideDialog = lazily(async () => (await import('../../ui/policy/BulkDecideDialog.tsx')).BulkDecideDialog)

const hrefOf = (device: Peripheral) => deviceAddress(device.uuid, device.deviceID)

// The key of a row is `<uuid>|<deviceID>`; a uuid has no bar.
const partsOf = (key: string): [uuid: string, deviceId: string] => {
  const bar = key.indexOf('|')
  return [key.slice(0, bar), key.slice(bar + 1)]
}

/** Every device of every host. */
export const PeripheralsPage = () => {
  useTitle('Peripherals')
  useIdlePreload(PeripheralDetail)
  const { api, session, queries } = useServices()
  const view = useView('/inside/peripherals', peripheralsView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const [bulk, setBulk] = useState<BulkQuestion | null>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, peripheralsView), [filters, search, sort])
  const source = useMemo(() => listSource(api, getPeripherals, query, deviceKey), [api, query])
  const selection = useSelection(source, { filtered: counts?.filtered ?? null })
  const canWrite = session.may('fleet:write')
  const decide = (effect: BulkQuestion['effect']) =>
    setBulk({
      effect,
      // Hubs are always allowed, so there is nothing to decide.
      devices: selection
        .rows()
        .filter(({ rule }) => rule !== 'hub')
        .map(
          ({ uuid, hostIdentifier, deviceID, serialNumber, vid, pid, caption, guiVid, guiPid, isKnownAttackTool }) => ({
            ...{ uuid, hostIdentifier, deviceID, serialNumber, vid, pid },
            name: caption || [guiVid, guiPid].join(' ').trim() || `${vid}:${pid}`,
            isAttackTool: isKnownAttackTool,
          }),
        ),
      done: selection.clear,
    })
  const opened = open === null ? null : partsOf(open)

  return (
    <ListFrame
      title="Peripherals"
      counts={counts}
      actions={<ViewSwitch />}
      filters={
        <FilterBar view={view} filters={peripheralFilters} searchPlaceholder="Device, vendor, id, serial, host">
          <ColumnsMenu columns={peripheralColumns} view={view} />
          <ExportMenu
            name="peripherals"
            report="peripherals"
            csv={exportPeripheralsCsv}
            pdf={exportPeripheralsPdf}
            query={query}
            columns={exportKeysOf(peripheralColumns, view.state.columns)}
            rows={counts?.filtered ?? null}
          />
          <MoreMenu
            label="More"
            curl={() => curlOf(window.location.origin, getPeripherals, { query: { ...query, PageSize: 100 } })}
          />
        </FilterBar>
      }
      table={
        <DataTable
          label="Peripherals"
          columns={peripheralColumns}
          source={source}
          view={view}
          topics={['peripherals']}
          hrefOf={hrefOf}
          {...(canWrite ? { selection } : {})}
          empty={<NoDevices />}
          onCounts={setCounts}
        />
      }
      drawer={
        opened === null ? null : (
          <SidePanel label="Device" fullPage={deviceAddress(...opened)} close={() => view.set({ open: null })}>
            <PeripheralDetail key={open} uuid={opened[0]} deviceId={opened[1]} />
          </SidePanel>
        )
      }
      selection={
        canWrite ? (
          <SelectionBar selection={selection} filtered={counts?.filtered ?? null}>
            <Button size="compact-sm" variant="default" onClick={() => decide('allow')}>
              Approve…
            </Button>
            <Button size="compact-sm" variant="default" onClick={() => decide('deny')}>
              Deny…
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
                  Tag…
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
