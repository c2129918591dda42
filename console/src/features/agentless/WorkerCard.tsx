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
import { strings } from './strings.ts'
import { useWorker } from './useWorker.ts'

const number = (value: number | null) => (value ?? 0).toLocaleString('en')

const State = ({ worker }: { worker: WorkerPollerDetails }) => {
  if (worker.adminStatus === null) return <SeverityTag severity="neutral" word={strings.noWorker} />
  if (worker.adminStatus === 'Pending') return <SeverityTag severity="amber" word={strings.waitsForYou} />
  if (worker.adminStatus === 'Deactivated') return <SeverityTag severity="neutral" word={strings.stopped} />
  if (worker.status === 'Disconnected') return <SeverityTag severity="red" word={strings.silent} />
  return <strong>{strings.polls}</strong>
}

const Words = ({ worker }: { worker: WorkerPollerDetails }) => {
  if (worker.adminStatus === null) return <span>{strings.nothingPollsTheWorkerOfThis}</span>
  const name = (
    <>
      {strings.devicetextAtDevicetext2VersionDevicetext3({
        deviceText: <DeviceText value={worker.name ?? ''} />,
        deviceText2: <DeviceText value={worker.ipAddress ?? ''} />,
        deviceText3: <DeviceText value={worker.version ?? ''} />,
      })}
    </>
  )
  if (worker.adminStatus === 'Pending') return <span>{strings.nameAsksToPollItGets({ name })}</span>
  return (
    <>
      <span>{name}</span>
      <span>
        <Pollers pollers={worker.pollers} />
        {worker.status === 'Disconnected' ? strings.lastHeardOfTime({ time: <Time value={worker.lastSeen} /> }) : null}
      </span>
      <span>{strings.mathInUse({ Math: Math.round(worker.utilization ?? 0) })}</span>
      <span>{strings.dueDue({ due: worker.due })}</span>
      {(worker.errorCount ?? 0) === 0 ? (
        <span>{strings.noneFails}</span>
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
  if (data === undefined) return <section className={classes.worker} aria-label={strings.worker} aria-busy />
  const canWrite = session.may('config:write')
  const { id, adminStatus } = data
  const name = data.name ?? 'the worker'

  const activate = async (isActivated: boolean) => {
    await api.call(activateWorker, { body: { id: id ?? '', isActivated } })
    tell(isActivated ? strings.theWorkerPolls : strings.theWorkerIsStopped)
    await worker.refetch()
  }
  const waiting = data.pollers.filter((one) => one.isAlive && !one.isActivated)
  const activateNew = () =>
    confirm({
      title: strings.activateWorkerProcesses,
      names: waiting.map((one) => `${one.name} (${one.ipAddress})`),
      kind: ['process', 'processes'],
      consequence: strings.theyReceiveTheCredentialsOfThe,
      action: strings.activate,
      run: () => activate(true),
    })
  const stop = () =>
    confirm({
      title: strings.stopTheWorker,
      names: [name],
      kind: ['worker', 'workers'],
      consequence: strings.runningPollsEndWithoutResultAnd,
      action: strings.stop,
      run: () => activate(false),
    })
  const remove = () =>
    confirm({
      title: strings.deleteTheWorker,
      names: [name],
      kind: ['worker', 'workers'],
      consequence: strings.theKeysOfItsProcessesAre,
      action: strings.deleteText2,
      run: async () => {
        await api.call(deleteWorker)
        tell(strings.theWorkerIsDeleted)
        await worker.refetch()
      },
    })

  return (
    <section
      className={classes.worker}
      aria-label={strings.worker}
      data-pending={adminStatus === 'Pending' || undefined}
    >
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
            {strings.activate}
          </Button>
        ) : null}
        {canWrite && adminStatus === 'Activated' && waiting.length > 0 ? (
          <Button size="compact-sm" onClick={activateNew}>
            {strings.activateValue({
              value:
                waiting.length === 1 ? 'the new process' : strings.waitingNewProcesses({ waiting: waiting.length }),
            })}
          </Button>
        ) : null}
        {canWrite && adminStatus === 'Activated' ? (
          <Button size="compact-sm" variant="default" onClick={stop}>
            {strings.stop2}
          </Button>
        ) : null}
        <MoreMenu label={strings.moreOfTheWorker} curl={() => curlOf(window.location.origin, workerPollerDetails)}>
          {canWrite ? <Menu.Item onClick={() => setIsAdding(true)}>{strings.addAWorker2}</Menu.Item> : null}
          {canWrite && adminStatus !== null ? <Menu.Item onClick={remove}>{strings.deleteTheWorker2}</Menu.Item> : null}
        </MoreMenu>
      </div>
      <AddWorker opened={isAdding} close={() => setIsAdding(false)} />
    </section>
  )
}
