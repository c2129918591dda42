import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import { type HostFinding, listFindings } from '#features/contract.ts'
import { ExportMenu } from '#features/reports/console/shared/ExportMenu.tsx'
import { reopen } from '../shared/findings/actions.ts'
import { strings as words } from '../shared/findings/strings.ts'
import { strings } from '../strings.ts'
import { findingAddress, findingsTable } from './findings.view.tsx'

const CloseFindingsDialog = lazilyDialog(
  async () => (await import('../shared/findings/CloseFindingsDialog.tsx')).CloseFindingsDialog,
)
const idOf = (finding: HostFinding) => String(finding.id)

/** Lists the findings about devices of all hosts, and closes them with a verdict. */
export const FindingsPage = () => {
  useTitle(strings.findings)
  const services = useServices()
  const list = useList('/inside/findings', findingsTable.view, listFindings, idOf)
  const filtered = list.counts?.filtered ?? null
  const selection = useSelection(list.source, { filtered })
  const [closing, setClosing] = useState<readonly HostFinding[] | null>(null)
  const canWrite = services.session.may('fleet:write')
  const chosen = selection.rows()
  const open = chosen.filter(({ verdict }) => verdict === null)
  const closedByPeople = chosen.filter(({ closedBy }) => closedBy !== '')
  const onChanged = () => {
    selection.clear()
    void services.queries.invalidateQueries({ queryKey: ['rows'] })
  }
  return (
    <ListPage
      title={strings.findings}
      list={list}
      searchPlaceholder={strings.searchFindings}
      exports={(rows) => <ExportMenu {...rows} name="findings" report="findings" />}
      label={strings.findings}
      table={findingsTable}
      topics={['peripherals']}
      hrefOf={findingAddress}
      opensPage
      selection={canWrite ? selection : undefined}
      empty={
        <EmptyState icon="check" title={strings.noFindings}>
          <p>{strings.noFindingsHint}</p>
        </EmptyState>
      }
      bar={
        canWrite ? (
          <>
            <SelectionBar selection={selection} filtered={filtered}>
              <Button size="compact-sm" variant="default" disabled={open.length === 0} onClick={() => setClosing(open)}>
                {words.askClose}
              </Button>
              <Button
                size="compact-sm"
                variant="default"
                disabled={closedByPeople.length === 0}
                onClick={() => reopen(services, closedByPeople, onChanged)}
              >
                {words.reopen}
              </Button>
            </SelectionBar>
            <CloseFindingsDialog findings={closing} close={() => setClosing(null)} onChanged={onChanged} />
          </>
        ) : null
      }
    />
  )
}
