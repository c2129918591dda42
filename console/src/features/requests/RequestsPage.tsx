import { Button, Group } from '@mantine/core'
import { approveChangeRequest, type ChangeRequest, listChangeRequests, rejectChangeRequest } from '@portcullis/contract'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DetailLines } from '../../ui/DetailLines.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import classes from './requests.module.css'
import { useRequests } from './useRequests.ts'

const consequence: Readonly<Record<ChangeRequest['action'], string>> = {
  free: 'every block on them is lifted at once.',
  delete: 'their keys are revoked within a second. They come back only by a new enrolment.',
  settings: 'the change takes effect at once for everyone.',
  rules: 'armed hosts apply the rules within a second.',
  account: 'the change to the account takes effect at once. A disabled, demoted or deleted account loses its sessions.',
  update: 'these hosts install the new agent.',
  package: 'hosts can be updated to this build.',
}

/** The title, and every part of the change on request. */
const Change = ({ request: { title, details } }: { request: ChangeRequest }) =>
  details.length === 0 ? (
    <DeviceText value={title} />
  ) : (
    <details>
      <summary>
        <DeviceText value={title} />
      </summary>
      <DetailLines lines={details} />
    </details>
  )

const Decided = ({ request, me }: { request: ChangeRequest; me: string }) => {
  if (request.state === 'Waiting')
    return (
      <span>
        waiting, expires <Time value={request.expiresAt} />
        {request.refusal === '' || request.requestedBy === me ? null : <p className={classes.why}>{request.refusal}</p>}
      </span>
    )
  if (request.decidedBy === null) return <span>{request.state.toLowerCase()}</span>
  const isWithdrawn = request.state === 'Rejected' && request.decidedBy === request.requestedBy
  return (
    <span>
      {isWithdrawn ? 'withdrawn' : request.state.toLowerCase()} by <DeviceText value={request.decidedBy} />{' '}
      <Time value={request.decidedAt} />
    </span>
  )
}

/** Asks before a decision, and sends it. */
const useDecisions = (reread: () => Promise<unknown>) => {
  const { api, queries } = useServices()
  const [busy, setBusy] = useState<string | null>(null)

  const approve = (request: ChangeRequest) =>
    confirm({
      title: request.title,
      names: [`Requested by ${request.requestedBy}`],
      details: request.details,
      count: request.hosts === 0 ? 1 : request.hosts,
      kind: request.hosts === 0 ? ['change', 'changes'] : ['host', 'hosts'],
      consequence: consequence[request.action],
      action: 'Approve request',
      run: async () => {
        await api.call(approveChangeRequest, { params: { id: request.id } })
        tell(`Approved. ${request.title} is being carried out.`)
        void queries.invalidateQueries({ queryKey: ['jobs'] })
        void queries.invalidateQueries({ queryKey: ['rows'] })
        await reread()
      },
    })
  const askReject = (request: ChangeRequest) =>
    confirm({
      title: `Reject: ${request.title}`,
      names: [`Requested by ${request.requestedBy}`],
      count: 1,
      kind: ['request', 'requests'],
      consequence: 'nothing changes, and the request cannot be approved any more.',
      action: 'Reject request',
      run: async () => {
        await api.call(rejectChangeRequest, { params: { id: request.id } })
        tell('Request rejected.')
        await reread()
      },
    })
  const withdraw = async (request: ChangeRequest) => {
    setBusy(request.id)
    try {
      await api.call(rejectChangeRequest, { params: { id: request.id } })
      tell('Request withdrawn.')
    } catch (failure) {
      tellFailure(failure)
    } finally {
      setBusy(null)
      await reread()
    }
  }
  return { busy, approve, askReject, withdraw }
}

const Actions = ({
  request,
  me,
  decisions: { busy, approve, askReject, withdraw },
}: {
  request: ChangeRequest
  me: string
  decisions: ReturnType<typeof useDecisions>
}) => {
  if (request.state !== 'Waiting') return null
  if (request.requestedBy === me) {
    return (
      <Button size="compact-xs" variant="default" loading={busy === request.id} onClick={() => void withdraw(request)}>
        Withdraw
      </Button>
    )
  }
  return (
    <Group gap="sm" justify="flex-end" wrap="nowrap">
      <Button
        size="compact-xs"
        disabled={request.refusal !== ''}
        title={request.refusal || undefined}
        onClick={() => approve(request)}
      >
        Approve…
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => askReject(request)}>
        Reject…
      </Button>
    </Group>
  )
}

/** The requests that wait for a second approver. The requester can withdraw one; another person approves or rejects it. */
export const RequestsPage = () => {
  useTitle('Change requests')
  const { me, canDecide, requests } = useRequests()
  const decisions = useDecisions(() => requests.refetch())
  return (
    <SettingsPage
      title="Change requests"
      intro="One person requests, another approves. This covers freeing or deleting many hosts, rules that allow devices on many hosts, changes to another Administrator, agent updates and sign-in settings. You cannot approve your own requests."
      actions={<MoreMenu label="More" curl={() => curlOf(window.location.origin, listChangeRequests)} />}
    >
      {requests.error === null ? null : (
        <ErrorState failure={requests.error} retry={() => void requests.refetch()} inline />
      )}
      <SmallTable
        label="Requests"
        head={[
          'Request',
          { title: 'Hosts', align: 'right' },
          'Requested by',
          'Requested',
          'State',
          { title: '', align: 'right' },
        ]}
        rows={requests.data?.data.map((request) => ({
          key: request.id,
          quiet: request.state !== 'Waiting',
          cells: [
            <div key="title" className={classes.title}>
              <Change request={request} />
            </div>,
            request.hosts.toLocaleString('en'),
            <DeviceText key="who" value={request.requestedBy === me ? `${me} (you)` : request.requestedBy} />,
            <Time key="when" value={request.requestedAt} />,
            <Decided key="state" request={request} me={me} />,
            canDecide ? <Actions key="actions" request={request} me={me} decisions={decisions} /> : null,
          ],
        }))}
        empty="No requests. A request appears here when a change needs a second approver."
      />
    </SettingsPage>
  )
}
