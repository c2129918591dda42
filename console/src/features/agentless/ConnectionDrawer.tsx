import { Button, Menu } from '@mantine/core'
import { type Connection, type ConnectionStatus, listConnections } from '@portcullis/contract'
import { agentAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { SidePanel } from '../../ui/SidePanel.tsx'
import { TagList } from '../../ui/TagList.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './agentless.module.css'
import { State } from './agentless.view.tsx'
import { ConnectionForm } from './ConnectionForm.tsx'
import { useConnectionActions } from './connection-actions.ts'
import { durationText, platformWords } from './labels.ts'
import { NextRun } from './NextRun.tsx'
import { strings } from './strings.ts'
import { useConnection, useShownHostKey } from './useConnection.ts'
import { useWorker } from './useWorker.ts'

/** Stands in the address for a computer that is about to be added; no host can be called so. */
export const newConnection = '*'

/** Failures before the one that is told above them. */
const failuresBefore = ({ prevRunningErrors, statusErrorDescription }: ConnectionStatus): string[] => {
  const errors = prevRunningErrors.split(' | ').filter((error) => error !== '')
  return errors[0] === statusErrorDescription ? errors.slice(1) : errors
}

const LastRun = ({ status }: { status: ConnectionStatus }) => (
  <section className={classes.run} aria-label={strings.lastRun}>
    <p className={classes.text}>
      <State status={status.statusString} />{' '}
      {status.statusDescription === 'Failed' ? null : <DeviceText value={status.statusDescription} />}
    </p>
    {status.statusErrorDescription === '' ? null : (
      <p className={classes.text} role="note">
        <DeviceText value={status.statusErrorDescription} />
      </p>
    )}
    <Facts
      rows={[
        [strings.began, <Time key="began" value={status.startTime} />],
        [strings.took, durationText(status.durationMs)],
        [strings.next, <NextRun key="next" value={status.nextRun} />],
        ...(status.uuid === ''
          ? []
          : [
              [
                strings.devices,
                <PlainLink key="host" href={agentAddress(status.uuid)}>
                  {strings.peripheralscountOnThisHost({ peripheralsCount: status.peripheralsCount })}
                </PlainLink>,
              ] as const,
            ]),
        ...(failuresBefore(status).length === 0
          ? []
          : [
              [
                strings.beforeThat,
                <ul key="errors" className={classes.errors}>
                  {failuresBefore(status).map((error, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the same failure may stand here thrice
                    <li key={index}>
                      <DeviceText value={error} />
                    </li>
                  ))}
                </ul>,
              ] as const,
            ]),
      ]}
    />
  </section>
)

const Details = ({ connection }: { connection: Connection }) => (
  <Facts
    rows={[
      [strings.port, connection.port ?? 'as usual'],
      [strings.system, platformWords[connection.platform]],
      [strings.signsIn, connection.isOverrideDefaults ? 'with its own credentials' : 'with the defaults'],
      ...(connection.isOverrideDefaults
        ? [[strings.user, <DeviceText key="user" value={connection.userName} />] as const]
        : []),
      [strings.hostKey, connection.hostKeyFingerprint === '' ? 'not confirmed' : connection.hostKeyFingerprint],
      [strings.tags, <TagList key="tags" tags={connection.hashtags} />],
    ]}
  />
)

/** Says that the default password is not sent there; an Administrator can vouch for the computer. */
const Unconfirmed = ({ connection }: { connection: Connection }) => {
  const { session } = useServices()
  const worker = useWorker()
  const actions = useConnectionActions(() => undefined)
  if (connection.isOverrideDefaults || connection.isConfirmed || worker.data?.defaults.hasPassword !== true) return null
  return (
    <p className={classes.text} role="note">
      {strings.theDefaultPasswordIsNotSent({
        value: session.may('config:write') ? (
          <>
            {' '}
            <Button size="compact-xs" variant="default" onClick={() => actions.confirmHost(connection.computerName)}>
              {strings.confirm}
            </Button>
          </>
        ) : null,
      })}
    </p>
  )
}

/** The unconfirmed host key of a computer. No password is sent until someone confirms it. */
const HostKey = ({ connection }: { connection: Connection }) => {
  const { session } = useServices()
  const actions = useConnectionActions(() => undefined)
  const { computerName, hostKeyFingerprint } = connection
  const shown = useShownHostKey(computerName) ?? connection.shownHostKeyFingerprint
  if (shown === '') return null
  if (hostKeyFingerprint !== '')
    return (
      <p className={classes.text} role="note">
        {strings.theHostKeyChangedSoNo({ code: <code>{hostKeyFingerprint}</code>, code2: <code>{shown}</code> })}
      </p>
    )
  return (
    <p className={classes.text} role="note">
      {strings.firstContactNoPasswordWasSent({
        code: <code>{shown}</code>,
        code2: (text) => <code>{text}</code>,
        value: session.may(connection.isOverrideDefaults ? 'fleet:write' : 'config:write') ? (
          <>
            {' '}
            <Button size="compact-xs" variant="default" onClick={() => actions.confirmKey(computerName, shown)}>
              {strings.confirmHostKey}
            </Button>
          </>
        ) : (
          ' An Administrator can confirm it.'
        ),
      })}
    </p>
  )
}

interface BodyProps {
  name: string
  close: () => void
  onSaved: (computerName: string) => void
}

const Body = ({ name, close, onSaved }: BodyProps) => {
  const { session } = useServices()
  const { connection, status } = useConnection(name)
  const actions = useConnectionActions(() => undefined)
  const removing = useConnectionActions(close)
  const canWrite = session.may('fleet:write')
  if (connection.data === undefined)
    return connection.error === null ? (
      <DetailSkeleton />
    ) : (
      <ErrorState failure={connection.error} retry={() => void connection.refetch()} />
    )
  if (connection.data === null)
    return (
      <EmptyState icon="network" title={strings.thisComputerIsNotHereAny}>
        <p>{strings.itWasRenamedOrDeletedThe}</p>
      </EmptyState>
    )
  const { computerName } = connection.data
  return (
    <>
      <header className={classes.drawerHead}>
        <h2>
          <DeviceText value={computerName} />
        </h2>
        {canWrite ? (
          <Button size="compact-sm" variant="default" onClick={() => actions.poll([computerName])}>
            {connection.data.isRegistered ? strings.pollNow : strings.startPolling}
          </Button>
        ) : null}
        <MoreMenu
          label={strings.moreOfThisConnection}
          curl={() => curlOf(window.location.origin, listConnections, { query: { ComputerName: computerName } })}
        >
          {canWrite && connection.data.isRegistered ? (
            <Menu.Item onClick={() => actions.stop([computerName])}>{strings.stopPolling}</Menu.Item>
          ) : null}
          {canWrite ? (
            <Menu.Item onClick={() => removing.remove([computerName])}>{strings.deleteText}</Menu.Item>
          ) : null}
        </MoreMenu>
      </header>
      <div className={classes.drawerBody}>
        {status.data === undefined || status.data === null ? null : <LastRun status={status.data} />}
        <HostKey connection={connection.data} />
        <Unconfirmed connection={connection.data} />
        {canWrite ? (
          <ConnectionForm connection={connection.data} close={close} onSaved={onSaved} />
        ) : (
          <Details connection={connection.data} />
        )}
      </div>
    </>
  )
}

/** The drawer of a polled computer: its last run and its connection, or the form that adds one. */
export const ConnectionDrawer = ({ name, close, onSaved }: BodyProps) => (
  // Anew once a computer was added, so that the keyboard goes on in it and not at the top of the page.
  <SidePanel key={name === newConnection ? 'new' : 'known'} label={strings.polledComputer} close={close}>
    {name === newConnection ? (
      <>
        <header className={classes.drawerHead}>
          <h2>{strings.addAComputer}</h2>
        </header>
        <div className={classes.drawerBody}>
          <ConnectionForm connection={null} close={close} onSaved={onSaved} />
        </div>
      </>
    ) : (
      <Body key={name} name={name} close={close} onSaved={onSaved} />
    )}
  </SidePanel>
)
