import { Menu } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { lazily, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useMemo } from 'react'
import { type AuditRow, exportAuditTrail, getAuditPeople, getAuditRecords } from '#features/contract.ts'
import { downloadByTicket } from '#features/identity/console/shared/download-by-ticket.ts'
import { ReportItems } from '#features/reports/console/shared/ReportItems.tsx'
import { auditTable, filtersWith, phoneColumns } from './audit.view.tsx'
import { Checkpoints } from './Checkpoints.tsx'
import { strings } from './strings.ts'

const AuditDetail = lazily(async () => (await import('./AuditDetail.tsx')).AuditDetail, <DetailSkeleton />)

const idOf = (row: AuditRow) => String(row.auditTrailID)
const hrefOf = (row: AuditRow) => `/settings/audit?open=${row.auditTrailID}`

/** The audit trail: who did what, when and why, newest first. */
export const AuditPage = () => {
  useTitle(strings.auditTrail)
  useIdlePreload(AuditDetail)
  const { api } = useServices()
  const list = useList('/inside/settings/audit', auditTable.view, getAuditRecords, idOf)
  const people = useRead(['audit', 'people'], getAuditPeople)
  const filters = useMemo(() => filtersWith(people.data?.data ?? []), [people.data])
  const isPhone = useMediaQuery('(max-width: 700px)') ?? false
  const { open } = list.view.state
  return (
    <ListPage
      title={strings.auditTrail}
      list={list}
      searchPlaceholder={strings.search}
      label={strings.auditTrail}
      table={{ columns: isPhone ? phoneColumns : auditTable.columns, filters }}
      topics={[]}
      hrefOf={hrefOf}
      above={<Checkpoints />}
      more={
        <>
          <ReportItems list="audit" query={list.query} />
          <Menu.Item
            leftSection={<Icon name="download" />}
            onClick={() => void downloadByTicket(api, exportAuditTrail, {}, 'audit.jsonl')}
          >
            {strings.exportToVerify}
          </Menu.Item>
        </>
      }
      empty={
        <EmptyState icon="audit" title={strings.emptyTitle}>
          <p>{strings.emptyText}</p>
        </EmptyState>
      }
      drawer={
        open === null ? null : (
          <SidePanel label={strings.record} close={() => list.view.set({ open: null })}>
            <AuditDetail key={open} id={open} />
          </SidePanel>
        )
      }
    />
  )
}
