import { Button } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DetailLines } from '@portcullis/platform/console/ui/DetailLines.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Note, Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import { type ChangeRequest, listChangeRequests, rejectChangeRequest } from '#features/contract.ts'
import { ReviewDialog } from './ReviewDialog.tsx'
import { strings } from './strings.ts'
import { useRequests } from './useRequests.ts'

/** The title of a request; expands to the first parts of the change. */
const Change = ({ request: { title, details, lines } }: { request: ChangeRequest }) =>
  details.length === 0 ? (
    <DeviceText value={title} />
  ) : (
    <details>
      <summary>
        <DeviceText value={title} />
      </summary>
      <DetailLines lines={details} />
      {lines > details.length ? (
        <Note max={320} top={2} style={{ whiteSpace: 'normal' }}>
          {strings.moreLines({ count: lines - details.length })}
        </Note>
      ) : null}
    </details>
  )

const states = { Approved: strings.approved, Rejected: strings.rejected, Expired: strings.expired } as const

const Decided = ({ request, me }: { request: ChangeRequest; me: string }) => {
  if (request.state === 'Waiting')
    return (
      <span>
        {strings.waiting({ time: <Time key="time" value={request.expiresAt} form="until" /> })}
        {request.refusal === '' || request.requestedBy === me ? null : (
          <Note max={320} top={2} style={{ whiteSpace: 'normal' }}>
            {request.refusal}
          </Note>
        )}
      </span>
    )
  if (request.decidedBy === null) return <span>{states[request.state]}</span>
  const isWithdrawn = request.state === 'Rejected' && request.decidedBy === request.requestedBy
  return (
    <span>
      {strings.decidedBy({
        state: isWithdrawn ? strings.withdrawn : states[request.state],
        user: <DeviceText key="user" value={request.decidedBy} />,
        time: <Time key="time" value={request.decidedAt} form="ago" />,
      })}
    </span>
  )
}

/** Confirms and sends decisions. */
const useDecisions = (reread: () => Promise<unknown>) => {
  const { api, queries } = useServices()
  const [busy, setBusy] = useState<string | null>(null)
  const [reviewed, review] = useState<ChangeRequest | null>(null)

  const approved = () => {
    void queries.invalidateQueries({ queryKey: ['jobs'] })
    void queries.invalidateQueries({ queryKey: ['rows'] })
    return reread()
  }
  const askReject = (request: ChangeRequest) =>
    confirm({
      title: strings.rejectTitle({ title: request.title }),
      names: [strings.requestedByUser({ user: request.requestedBy })],
      count: 1,
      kind: strings.requestCount,
      consequence: strings.rejectEffect,
      action: strings.rejectRequest,
      run: () => api.call(rejectChangeRequest, { params: { id: request.id } }),
      done: strings.rejectedToast,
      reread,
    })
  const withdraw = async (request: ChangeRequest) => {
    setBusy(request.id)
    try {
      await api.call(rejectChangeRequest, { params: { id: request.id } })
      tell(strings.withdrawnToast)
    } catch (failure) {
      tellFailure(failure)
    } finally {
      setBusy(null)
      await reread()
    }
  }
  return { busy, reviewed, review, approved, askReject, withdraw }
}

const Actions = ({
  request,
  me,
  decisions: { busy, review, askReject, withdraw },
}: {
  request: ChangeRequest
  me: string
  decisions: ReturnType<typeof useDecisions>
}) => {
  if (request.state !== 'Waiting') return null
  if (request.requestedBy === me) {
    return (
      <Button size="compact-xs" variant="default" loading={busy === request.id} onClick={() => void withdraw(request)}>
        {strings.withdraw}
      </Button>
    )
  }
  return (
    <Row justify="end">
      <Button
        size="compact-xs"
        disabled={request.refusal !== ''}
        title={request.refusal || undefined}
        onClick={() => review(request)}
      >
        {strings.askApprove}
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => askReject(request)}>
        {strings.askReject}
      </Button>
    </Row>
  )
}

/** Lists change requests. The requester can withdraw a request; another person approves or rejects it. */
export const RequestsPage = () => {
  useTitle(strings.changeRequests)
  const { me, canDecide, requests } = useRequests()
  const decisions = useDecisions(() => requests.refetch())
  return (
    <SettingsPage
      title={strings.changeRequests}
      intro={strings.intro}
      actions={<MoreMenu curl={() => curlOf(listChangeRequests)} />}
    >
      <ErrorState query={requests} inline />
      <SmallTable
        label={strings.requests}
        head={[strings.request, right(strings.hosts), strings.requestedBy, strings.requested, strings.state, right('')]}
        rows={requests.data?.data.map((request) => ({
          key: request.id,
          quiet: request.state !== 'Waiting',
          cells: [
            <Text key="title" as="div" max={520} breaks>
              <Change request={request} />
            </Text>,
            request.hosts.toLocaleString('en'),
            <DeviceText
              key="who"
              value={request.requestedBy === me ? strings.you({ user: me }) : request.requestedBy}
            />,
            <Time key="when" value={request.requestedAt} />,
            <Decided key="state" request={request} me={me} />,
            canDecide ? <Actions key="actions" request={request} me={me} decisions={decisions} /> : null,
          ],
        }))}
        empty={strings.empty}
      />
      <ReviewDialog request={decisions.reviewed} approved={decisions.approved} close={() => decisions.review(null)} />
    </SettingsPage>
  )
}
