import { Button, Menu } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Notice, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { activateWorker, deleteWorker, type WorkerPollerDetails, workerPollerDetails } from '#features/contract.ts'
import { AddWorker } from './AddWorker.tsx'
import { Pollers } from './Pollers.tsx'
import { strings } from './strings.ts'
import { useWorker } from './useWorker.ts'

const State = ({ worker }: { worker: WorkerPollerDetails }) => {
  if (worker.adminStatus === null) return <SeverityTag severity="neutral" word={strings.noWorker} />
  if (worker.adminStatus === 'Pending') return <SeverityTag severity="amber" word={strings.workerPending} />
  if (worker.adminStatus === 'Deactivated') return <SeverityTag severity="neutral" word={strings.stopped} />
  if (worker.status === 'Disconnected') return <SeverityTag severity="red" word={strings.disconnected} />
  return <strong>{strings.polling}</strong>
}

const Summary = ({ worker }: { worker: WorkerPollerDetails }) => {
  if (worker.adminStatus === null) return <span>{strings.noWorkerText}</span>
  const name = (
    <>
      {strings.workerName({
        name: <DeviceText value={worker.name ?? ''} />,
        address: <DeviceText value={worker.ipAddress ?? ''} />,
        version: <DeviceText value={worker.version ?? ''} />,
      })}
    </>
  )
  if (worker.adminStatus === 'Pending') return <span>{strings.workerAsks({ worker: name })}</span>
  return (
    <>
      <span>{name}</span>
      <span>
        <Pollers pollers={worker.pollers} />
        {worker.status === 'Disconnected' ? (
          <>, {strings.lastSeenAt({ time: <Time value={worker.lastSeen} /> })}</>
        ) : null}
      </span>
      <span>{strings.utilization({ percent: Math.round(worker.utilization ?? 0) })}</span>
      <span>{strings.dueCount({ count: worker.due })}</span>
      {(worker.errorCount ?? 0) === 0 ? (
        <span>{strings.noneFailing}</span>
      ) : (
        <Link to="/agentless" search={{ StatusString: 'Failed' }}>
          {strings.failingCount({ count: worker.errorCount ?? 0 })}
        </Link>
      )}
    </>
  )
}

/** The state of the worker, and the buttons that let it poll. */
export const WorkerCard = () => {
  const { api, session } = useServices()
  const worker = useWorker()
  const [isAdding, setIsAdding] = useState(false)
  const [busy, setBusy] = useState(false)
  const data = worker.data
  if (worker.error !== null && data === undefined) return <ErrorState query={worker} inline />
  if (data === undefined) return <Notice as="section" aria-label={strings.worker} aria-busy />
  const canWrite = session.may('config:write')
  const { id, adminStatus } = data
  const name = data.name ?? strings.theWorker

  const activate = async (isActivated: boolean) => {
    await api.call(activateWorker, { body: { id: id ?? '', isActivated } })
    tell(isActivated ? strings.workerActivated : strings.workerStopped)
    await worker.refetch()
  }
  const waiting = data.pollers.filter((one) => one.isAlive && !one.isActivated)
  const activateNew = () =>
    confirm({
      title: strings.activateTitle,
      names: waiting.map((one) => `${one.name} (${one.ipAddress})`),
      kind: strings.processCount,
      consequence: strings.activateConsequence,
      action: strings.activate,
      run: () => activate(true),
    })
  const stop = () =>
    confirm({
      title: strings.stopWorker,
      names: [name],
      kind: strings.workerCount,
      consequence: strings.stopConsequence,
      run: () => activate(false),
    })
  const remove = () =>
    confirm({
      title: strings.deleteWorker,
      names: [name],
      kind: strings.workerCount,
      consequence: strings.deleteWorkerConsequence,
      action: strings.delete,
      run: () => api.call(deleteWorker),
      done: strings.workerDeleted,
      reread: worker.refetch,
    })

  return (
    <Notice as="section" wrap aria-label={strings.worker} tone={adminStatus === 'Pending' ? 'accent' : undefined}>
      <State worker={data} />
      <Row align="start" wrap gap="2px 16px" num style={{ flex: '1 1 200px' }}>
        <Summary worker={data} />
      </Row>
      <Row>
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
            {strings.activate}
          </Button>
        ) : null}
        {canWrite && adminStatus === 'Activated' && waiting.length > 0 ? (
          <Button size="compact-sm" onClick={activateNew}>
            {strings.activateNew({ count: waiting.length })}
          </Button>
        ) : null}
        {canWrite && adminStatus === 'Activated' ? (
          <Button size="compact-sm" variant="default" onClick={stop}>
            {strings.stopMenu}
          </Button>
        ) : null}
        <MoreMenu label={strings.moreActions} curl={() => curlOf(workerPollerDetails)}>
          {canWrite ? <Menu.Item onClick={() => setIsAdding(true)}>{strings.addWorkerMenu}</Menu.Item> : null}
          {canWrite && adminStatus !== null ? <Menu.Item onClick={remove}>{strings.deleteWorkerMenu}</Menu.Item> : null}
        </MoreMenu>
      </Row>
      <AddWorker opened={isAdding} close={() => setIsAdding(false)} />
    </Notice>
  )
}
