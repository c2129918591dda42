import { Button, Menu } from '@mantine/core'
import { activateWorker, deleteWorker, type WorkerPollerDetails, workerPollerDetails } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import { AddWorker } from './AddWorker.tsx'
import classes from './agentless.module.css'
import { Pollers } from './Pollers.tsx'
import { useWorker } from './useWorker.ts'

const number = (value: number | null) => (value ?? 0).toLocaleString('en')

const State = ({ worker }: { worker: WorkerPollerDetails }) => {
  if (worker.adminStatus === null) return <SeverityTag severity="neutral" word="No worker" />
  if (worker.adminStatus === 'Pending') return <SeverityTag severity="amber" word="Waits for you" />
  if (worker.adminStatus === 'Deactivated') return <SeverityTag severity="neutral" word="Stopped" />
  if (worker.status === 'Disconnected') return <SeverityTag severity="red" word="Silent" />
  return <strong>Polls</strong>
}

const Words = ({ worker }: { worker: WorkerPollerDetails }) => {
  if (worker.adminStatus === null)
    return (
      <span>
        Nothing polls. The worker of this server appears here within a minute of its start; another machine can run one.
      </span>
    )
  const name = (
    <>
      <DeviceText value={worker.name ?? ''} /> at <DeviceText value={worker.ipAddress ?? ''} />, version{' '}
      <DeviceText value={worker.version ?? ''} />
    </>
  )
  if (worker.adminStatus === 'Pending')
    return <span>{name}, asks to poll. It gets no credential of any computer before you activate it.</span>
  return (
    <>
      <span>{name}</span>
      <span>
        <Pollers pollers={worker.pollers} />
        {worker.status === 'Disconnected' ? (
          <>
            , last heard of <Time value={worker.lastSeen} />
          </>
        ) : null}
      </span>
      <span>{Math.round(worker.utilization ?? 0)} % in use</span>
      <span>{number(worker.due)} due</span>
      {(worker.errorCount ?? 0) === 0 ? (
        <span>none fails</span>
      ) : (
        <Link to="/agentless" search={{ StatusString: 'Failed' }}>
          {number(worker.errorCount)} {worker.errorCount === 1 ? 'fails' : 'fail'}
        </Link>
      )}
    </>
  )
}

/** How the worker is, and the switch that lets it poll. */
export const WorkerCard = () => {
  const { api, session } = useServices()
  const worker = useWorker()
  const [isAdding, setIsAdding] = useState(false)
  const [busy, setBusy] = useState(false)
  const data = worker.data
  if (worker.error !== null && data === undefined)
    return <ErrorState failure={worker.error} retry={() => void worker.refetch()} inline />
  if (data === undefined) return <section className={classes.worker} aria-label="Worker" aria-busy />
  const canWrite = session.may('config:write')
  const { id, adminStatus } = data
  const name = data.name ?? 'the worker'

  const activate = async (isActivated: boolean) => {
    await api.call(activateWorker, { body: { id: id ?? '', isActivated } })
    tell(isActivated ? 'The worker polls.' : 'The worker is stopped.')
    await worker.refetch()
  }
  const waiting = data.pollers.filter((one) => one.isAlive && !one.isActivated)
  const activateNew = () =>
    confirm({
      title: 'Activate worker processes',
      names: waiting.map((one) => `${one.name} (${one.ipAddress})`),
      kind: ['process', 'processes'],
      consequence: 'they receive the credentials of the computers they poll. Activate only processes that you started.',
      action: 'Activate',
      run: () => activate(true),
    })
  const stop = () =>
    confirm({
      title: 'Stop the worker',
      names: [name],
      kind: ['worker', 'workers'],
      consequence: 'running polls end without result, and no computer is polled until you activate it again.',
      action: 'Stop',
      run: () => activate(false),
    })
  const remove = () =>
    confirm({
      title: 'Delete the worker',
      names: [name],
      kind: ['worker', 'workers'],
      consequence:
        'the keys of its processes are revoked and running polls end; computers stay. The one that the server runs itself comes back within a minute and waits for you; others need a new token.',
      action: 'Delete',
      run: async () => {
        await api.call(deleteWorker)
        tell('The worker is deleted.')
        await worker.refetch()
      },
    })

  return (
    <section className={classes.worker} aria-label="Worker" data-pending={adminStatus === 'Pending' || undefined}>
      <State worker={data} />
      <div className={classes.workerWords}>
        <Words worker={data} />
      </div>
      <div className={classes.workerActions}>
        {canWrite && adminStatus !== null && adminStatus !== 'Activated' ? (
          <Button
            size="compact-sm"
            loading={busy}
            onClick={() => {
              setBusy(true)
              void activate(true)
                .catch(tellFailure)
                .finally(() => setBusy(false))
            }}
          >
            Activate
          </Button>
        ) : null}
        {canWrite && adminStatus === 'Activated' && waiting.length > 0 ? (
          <Button size="compact-sm" onClick={activateNew}>
            {`Activate ${waiting.length === 1 ? 'the new process' : `${waiting.length} new processes`}…`}
          </Button>
        ) : null}
        {canWrite && adminStatus === 'Activated' ? (
          <Button size="compact-sm" variant="default" onClick={stop}>
            Stop…
          </Button>
        ) : null}
        <MoreMenu label="More of the worker" curl={() => curlOf(window.location.origin, workerPollerDetails)}>
          {canWrite ? <Menu.Item onClick={() => setIsAdding(true)}>Add a worker…</Menu.Item> : null}
          {canWrite && adminStatus !== null ? <Menu.Item onClick={remove}>Delete the worker…</Menu.Item> : null}
        </MoreMenu>
      </div>
      <AddWorker opened={isAdding} close={() => setIsAdding(false)} />
    </section>
  )
}
