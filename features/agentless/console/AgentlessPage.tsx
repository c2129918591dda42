import { Button } from '@mantine/core'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { exportKeysOf } from '@portcullis/platform/console/ui/table/column.ts'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useKeys } from '@portcullis/platform/console/ui/useKeys.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useRef, useState } from 'react'
import { type ConnectionStatus, connectionDetailsStatus } from '#features/contract.ts'
import { ExportListsMenu } from '#features/reports/console/shared/ExportMenu.tsx'
import { statusTable } from './agentless.view.tsx'
import { CauseStrip } from './CauseStrip.tsx'
import { CompareKeysDialog } from './CompareKeysDialog.tsx'
import { ConnectionDrawer, newConnection } from './ConnectionDrawer.tsx'
import { ConnectionsBar } from './ConnectionsBar.tsx'
import { exportedLists } from './connection-exports.ts'
import { DefaultsDialog } from './DefaultsDialog.tsx'
import { FeedsDialog } from './FeedsDialog.tsx'
import { strings } from './strings.ts'
import { UploadDialog } from './UploadDialog.tsx'
import { useFreshRows } from './useFreshRows.ts'
import { WorkerCard } from './WorkerCard.tsx'

const hrefOf = ({ uuid, computerName }: ConnectionStatus) =>
  uuid === '' ? `/agentless?open=${encodeURIComponent(computerName)}` : agentAddress(uuid)

const idOf = (row: ConnectionStatus) => row.computerName

/** The hosts that are polled over SSH instead of running an agent, and the worker that polls them. */
export const AgentlessPage = () => {
  useTitle(strings.agentlessHosts)
  const { session } = useServices()
  const [dialog, setDialog] = useState<'defaults' | 'upload' | 'keys' | 'feeds' | null>(null)
  const table = useRef<HTMLDivElement>(null)
  const list = useList('/inside/agentless', statusTable.view, connectionDetailsStatus, idOf)
  const { open } = list.view.state
  const selection = useSelection(list.source, { filtered: list.counts?.filtered ?? null })
  useFreshRows(list.source, table, selection.size > 0)
  const canWrite = session.may('fleet:write')
  const openNew = () => list.view.set({ open: newConnection })
  useKeys(canWrite ? [{ keys: 'n', description: strings.add, run: openNew }] : [])
  const add = canWrite ? (
    <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={openNew}>
      {strings.add}
    </Button>
  ) : null

  return (
    <>
      <ListPage
        title={strings.agentlessHosts}
        list={list}
        actions={
          <>
            <Button size="compact-sm" variant="default" onClick={() => setDialog('feeds')}>
              {strings.feedsMenu}
            </Button>
            {session.may('config:write') ? (
              <Button size="compact-sm" variant="default" onClick={() => setDialog('defaults')}>
                {strings.defaults}
              </Button>
            ) : null}
            {canWrite ? (
              <Button size="compact-sm" variant="default" onClick={() => setDialog('upload')}>
                {strings.uploadFile}
              </Button>
            ) : null}
            {canWrite ? (
              <Button size="compact-sm" variant="default" onClick={() => setDialog('keys')}>
                {strings.compareKeysMenu}
              </Button>
            ) : null}
            {add}
          </>
        }
        searchPlaceholder={strings.searchPlaceholder}
        above={
          <>
            <WorkerCard />
            <CauseStrip
              chosen={list.view.state.filters.Cause ?? null}
              choose={(Cause) => list.view.set({ filters: { Cause, StatusString: null } })}
            />
          </>
        }
        tools={
          <ExportListsMenu
            lists={exportedLists(
              list.query,
              exportKeysOf(statusTable.columns, list.view.state.columns),
              list.counts?.filtered ?? null,
            )}
          />
        }
        label={strings.agentlessHosts}
        table={statusTable}
        topics={['agents']}
        hrefOf={hrefOf}
        selection={canWrite ? selection : undefined}
        empty={
          <EmptyState icon="network" title={strings.emptyTitle}>
            <p>{strings.emptyText}</p>
            {add}
          </EmptyState>
        }
        wrap={(rows) => (
          <Stack ref={table} grow gap={0}>
            {rows}
          </Stack>
        )}
        drawer={
          open === null ? null : (
            <ConnectionDrawer
              name={open}
              close={() => list.view.set({ open: null })}
              onSaved={(name) => list.view.set({ open: name }, { replace: true })}
            />
          )
        }
        bar={canWrite ? <ConnectionsBar selection={selection} filtered={list.counts?.filtered ?? null} /> : null}
      />
      <CompareKeysDialog opened={dialog === 'keys'} close={() => setDialog(null)} />
      <UploadDialog opened={dialog === 'upload'} close={() => setDialog(null)} />
      <FeedsDialog opened={dialog === 'feeds'} close={() => setDialog(null)} />
      <DefaultsDialog opened={dialog === 'defaults'} close={() => setDialog(null)} />
    </>
  )
}
