import { Modal } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { ReasonField } from '@portcullis/platform/console/ui/form/ReasonField.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { VersionHistory } from '@portcullis/platform/console/ui/history/VersionHistory.tsx'
import { Note, PressButton, Quiet, Stack, Table, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { SeverityLine } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type PolicyVersion, policyHistory, restorePolicy } from '#features/contract.ts'
import { differences, restoreText } from './rule-diff.ts'
import { basisText, changeText, openedHosts, openedText } from './shared/labels.ts'
import { asReason } from './shared/NewlyAllowed.tsx'
import { tellPolicyChange } from './shared/undo.ts'
import { strings } from './strings.ts'

const pageSize = 50

const Change = ({ change: { before, after } }: { change: PolicyVersion['changes'][number] }) => {
  if (before === null || after === null) {
    const rule = before ?? after
    return (
      <p>
        <Text as="strong" tone={before === null ? 'accent' : 'red'}>
          {before === null ? '+ ' : '− '}
        </Text>
        <DeviceText value={rule?.sentence} />
      </p>
    )
  }
  return (
    <>
      <p>
        <strong>± </strong>
        <DeviceText value={after.sentence} />
      </p>
      <Table>
        <thead>
          <tr>
            <th scope="col">{strings.change}</th>
            <th scope="col">{strings.before}</th>
            <th scope="col">{strings.after}</th>
          </tr>
        </thead>
        <tbody>
          {differences(before, after).map(({ name, before: old, after: now }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <del>
                  <DeviceText value={old} />
                </del>
              </td>
              <td>
                <ins>
                  <DeviceText value={now} />
                </ins>
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </>
  )
}

const Restore = ({ version, inForce, close }: { version: number; inForce: number; close: () => void }) => {
  const services = useServices()
  const { api } = services
  const { busy, failure, isStored, run } = useChange()
  const [reason, setReason] = useState('')
  const dryRun = useQuery({
    queryKey: ['policy-history', 'dry-run', version, inForce],
    queryFn: () => api.call(restorePolicy, { body: { version, dryRun: true } }),
    gcTime: 0,
    retry: false,
  })
  const total = dryRun.data === undefined ? 0 : dryRun.data.added + dryRun.data.changed + dryRun.data.deleted
  const warning = dryRun.data === undefined ? null : openedText(dryRun.data)
  const needsReason = dryRun.data !== undefined && openedHosts(dryRun.data) > 1
  const restore = () =>
    run(async () => {
      const done = await api.call(restorePolicy, {
        body: { version, ...asReason(reason) },
      })
      close()
      tellPolicyChange(services, version === 0 ? strings.allDeleted : strings.restored({ version }), done.version)
    })
  return (
    <Stack>
      {dryRun.error !== null ? (
        <ErrorState query={dryRun} inline />
      ) : (
        <p aria-live="polite">
          {dryRun.data === undefined ? strings.previewLoading : restoreText(dryRun.data)}{' '}
          {total > 0 ? strings.restoreHint : ''}
        </p>
      )}
      {dryRun.data?.prediction === undefined || total === 0 ? null : (
        <p>
          {changeText(dryRun.data.prediction)?.text ?? strings.restoreNoDevices} {basisText(dryRun.data.prediction)}
        </p>
      )}
      {warning === null ? null : (
        <SeverityLine severity={warning.severity} data-testid="works-again">
          <strong>{warning.text}</strong>
        </SeverityLine>
      )}
      {needsReason && !isStored ? (
        <ReasonField required value={reason} placeholder={strings.whyDevices} onChange={setReason} />
      ) : null}
      <ErrorState failure={failure} inline />
      <DialogActions
        close={close}
        action={version === 0 ? strings.deleteAll : strings.restoreVersion({ version })}
        run={() => void restore()}
        busy={busy}
        isReady={total > 0 && (!needsReason || reason.trim() !== '')}
        isStored={isStored}
      />
    </Stack>
  )
}

const Changes = ({ version }: { version: PolicyVersion }) => (
  <Stack gap={4}>
    {version.changes.map((change) => (
      <Change key={`${change.before?.id}|${change.after?.id}`} change={change} />
    ))}
    {version.changesTotal > version.changes.length ? (
      <Note>{strings.moreChanges({ count: version.changesTotal - version.changes.length })}</Note>
    ) : null}
  </Stack>
)

/** Lists the versions of the policy with their changes, and restores them. */
export const HistoryPage = () => {
  useTitle(strings.historyTitle)
  const { session } = useServices()
  const navigate = useNavigate({ from: '/policy/history' })
  const search = useSearch({ from: '/inside/policy/history' })
  const page = Math.max(1, Number(search.page ?? 1) || 1)
  const [restoring, setRestoring] = useState<number | null>(null)
  const query = { query: { PageNumber: page, PageSize: pageSize } }
  const history = useRead(['policy-history', page], policyHistory, { ...query, placeholderData: keepPreviousData })
  const set = (change: { page?: string; version?: string }, replace: boolean) =>
    void navigate({ to: '.', search: (old) => ({ ...old, ...change }), replace })
  const total = history.data?.recordsTotal ?? 0
  const canWrite = session.may('fleet:write')
  const isLast = page * pageSize >= total
  return (
    <SettingsPage
      title={strings.history}
      intro={strings.historyIntro}
      actions={<MoreMenu curl={() => curlOf(policyHistory, query)} />}
    >
      <VersionHistory
        history={history}
        shown={(version) => ({
          version: version.version,
          summary: <DeviceText value={version.summary} />,
          by: version.createdBy,
          at: version.createdAt,
          changes: <Changes version={version} />,
          goBack: canWrite && version.version !== total ? () => setRestoring(version.version) : null,
        })}
        open={search.version}
        setOpen={(version) => set({ version }, true)}
        page={page}
        isLast={isLast}
        setPage={(next) => set({ page: next }, false)}
        action={{ title: strings.restoreMenu, width: 84 }}
        empty={
          total > 0 ? null : (
            <EmptyState icon="policy" title={strings.noChangesYet}>
              <p>{strings.historyEmpty}</p>
            </EmptyState>
          )
        }
        note={
          <Quiet small>
            {strings.currentVersion({ version: total })}{' '}
            {canWrite && isLast ? (
              <PressButton isLink onClick={() => setRestoring(0)}>
                {strings.askDeleteAll}
              </PressButton>
            ) : null}
          </Quiet>
        }
      />
      <Modal
        opened={restoring !== null}
        onClose={() => setRestoring(null)}
        title={
          restoring === null || restoring === 0 ? strings.deleteAll : strings.restoreVersion({ version: restoring })
        }
      >
        {restoring === null ? null : <Restore version={restoring} inForce={total} close={() => setRestoring(null)} />}
      </Modal>
    </SettingsPage>
  )
}
