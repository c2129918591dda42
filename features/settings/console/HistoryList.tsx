import { Button, Modal } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { VersionHistory } from '@portcullis/platform/console/ui/history/VersionHistory.tsx'
import { Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { keepPreviousData } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { configHistory, placedSettingLabel, settingLabel } from '#features/contract.ts'
import { Differences } from './Differences.tsx'
import { Rollback } from './Rollback.tsx'
import { strings } from './strings.ts'
import { useHistorySearch } from './useHistorySearch.ts'

const pageSize = 25
const namesShown = 4

const summaryOf = (names: readonly string[], label: (name: string) => string) =>
  names.length > namesShown
    ? strings.namesAndMore({
        names: names.slice(0, namesShown).map(label).join(', '),
        count: names.length - namesShown,
      })
    : names.map(label).join(', ')

/** The versions of the configuration, newest first, with their changes and authors. */
export const HistoryList = ({ prefix }: { prefix: string }) => {
  const { session } = useServices()
  const navigate = useNavigate()
  const search = useHistorySearch()
  const page = Math.max(1, Number(search.from ?? 1) || 1)
  const [target, setTarget] = useState<number | null>(null)
  const query = { query: { PageNumber: page, PageSize: pageSize, ...(prefix === '' ? {} : { prefix }) } }
  const history = useRead(['config-history', prefix, page], configHistory, {
    ...query,
    placeholderData: keepPreviousData,
  })
  const set = (change: { from?: string; version?: string }, replace: boolean) =>
    void navigate({ to: '.', search: (old) => ({ ...old, ...change }), replace })
  const total = history.data?.recordsFiltered ?? 0
  const canWrite = session.may('config:write')
  const withPage = prefix === ''
  const isLast = page * pageSize >= total
  return (
    <Stack as="section" aria-label={strings.history}>
      <VersionHistory
        history={history}
        shown={(version, index) => ({
          version: version.version,
          summary: summaryOf(
            version.changes.map(({ name }) => name),
            withPage ? placedSettingLabel : settingLabel,
          ),
          by: version.changedBy,
          at: version.changedAt,
          changes: (
            <Differences
              rows={version.changes}
              label={strings.changesOf({ version: version.version })}
              withPage={withPage}
            />
          ),
          goBack: canWrite && !(page === 1 && index === 0) ? () => setTarget(version.version) : null,
        })}
        open={search.version}
        setOpen={(version) => set({ version }, true)}
        page={page}
        isLast={isLast}
        setPage={(from) => set({ from }, false)}
        action={{ title: strings.restoreMenu, width: 136 }}
        empty={
          total > 0 ? null : (
            <EmptyState icon="settings" title={strings.noChangesYet}>
              <p>{strings.historyEmptyText}</p>
            </EmptyState>
          )
        }
        note={
          <Row wrap>
            <Quiet small>{strings.changeCount({ count: total })}</Quiet>
            {canWrite && isLast ? (
              <Button size="compact-xs" variant="default" onClick={() => setTarget(0)}>
                {strings.clearAllMenu}
              </Button>
            ) : null}
          </Row>
        }
        tools={<MoreMenu label={strings.moreActions} curl={() => curlOf(configHistory, query)} />}
      />
      <Modal
        opened={target !== null}
        onClose={() => setTarget(null)}
        title={target === 0 ? strings.clearAll : strings.restoreVersion({ version: target ?? 0 })}
      >
        {target === null ? null : <Rollback version={target} prefix={prefix} close={() => setTarget(null)} />}
      </Modal>
    </Stack>
  )
}
