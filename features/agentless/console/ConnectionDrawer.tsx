import { Button, Menu } from '@mantine/core'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { DrawerBody, Panel, Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { type Connection, type ConnectionStatus, listConnections } from '#features/contract.ts'
import { State } from './agentless.view.tsx'
import { ConnectionForm } from './ConnectionForm.tsx'
import { useConnectionActions } from './connection-actions.ts'
import { durationText, keyTrustLabels, platformLabels } from './labels.ts'
import { NextRun } from './NextRun.tsx'
import { strings } from './strings.ts'
import { useConnection, useHostKeys } from './useConnection.ts'
import { useWorker } from './useWorker.ts'

/** Marks a new host in the URL; no host name can be `*`. */
export const newConnection = '*'

/** Returns the failures before the one that is shown above them. */
const failuresBefore = ({ prevRunningErrors, statusErrorDescription }: ConnectionStatus): string[] => {
  const errors = prevRunningErrors.split(' | ').filter((error) => error !== '')
  return errors[0] === statusErrorDescription ? errors.slice(1) : errors
}

const LastRun = ({ status }: { status: ConnectionStatus }) => (
  <Panel tone="sunken" small aria-label={strings.lastRun}>
    <Text as="p">
      <State status={status.statusString} />{' '}
      {status.statusDescription === 'Failed' ? null : <DeviceText value={status.statusDescription} />}
    </Text>
    {status.statusErrorDescription === '' ? null : (
      <Text as="p" role="note">
        <DeviceText value={status.statusErrorDescription} />
      </Text>
    )}
    <Facts
      rows={[
        [strings.started, <Time key="began" value={status.startTime} />],
        [strings.duration, durationText(status.durationMs)],
        [strings.next, <NextRun key="next" value={status.nextRun} />],
        ...(status.uuid === ''
          ? []
          : [
              [
                strings.devices,
                <PlainLink key="host" href={agentAddress(status.uuid)}>
                  {strings.devicesOnHost({ count: status.peripheralsCount })}
                </PlainLink>,
              ] as const,
            ]),
        ...(failuresBefore(status).length === 0
          ? []
          : [
              [
                strings.earlierFailures,
                <Text key="errors" as="ul">
                  {failuresBefore(status).map((error, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the same failure may appear several times
                    <li key={index}>
                      <DeviceText value={error} />
                    </li>
                  ))}
                </Text>,
              ] as const,
            ]),
      ]}
    />
  </Panel>
)

const Details = ({ connection }: { connection: Connection }) => (
  <Facts
    rows={[
      [strings.port, connection.port ?? strings.defaultPort],
      [strings.operatingSystem, platformLabels[connection.platform]],
      [
        strings.signInMethod,
        connection.isOverrideDefaults ? strings.ownCredentialsUsed : strings.defaultCredentialsUsed,
      ],
      ...(connection.isOverrideDefaults
        ? [[strings.user, <DeviceText key="user" value={connection.userName} />] as const]
        : []),
      [
        strings.hostKey,
        connection.hostKeyFingerprint === ''
          ? keyTrustLabels.None
          : strings.keyWithTrust({
              key: connection.hostKeyFingerprint,
              trust: keyTrustLabels[connection.hostKeyTrust],
            }),
      ],
      [strings.tags, <TagList key="tags" tags={connection.hashtags} />],
    ]}
  />
)

/** Says that the default password is not sent to this host. An Administrator can confirm the host. */
const Unconfirmed = ({ connection }: { connection: Connection }) => {
  const { session } = useServices()
  const worker = useWorker()
  const actions = useConnectionActions()
  if (connection.isOverrideDefaults || connection.isConfirmed || worker.data?.defaults.hasPassword !== true) return null
  return (
    <Text as="p" role="note">
      {strings.passwordWithheld}
      {session.may('config:write') ? (
        <>
          {' '}
          <Button size="compact-xs" variant="default" onClick={() => actions.confirmHost(connection.computerName)}>
            {strings.confirmMenu}
          </Button>
        </>
      ) : null}
    </Text>
  )
}

/** Shows a host key that nobody has confirmed. No password is sent until someone does. */
const HostKey = ({ connection }: { connection: Connection }) => {
  const { session } = useServices()
  const actions = useConnectionActions()
  const { computerName } = connection
  const keys = useHostKeys(computerName) ?? connection
  const { hostKeyFingerprint, shownHostKeyFingerprint: shown } = keys
  const isFirstUse = keys.hostKeyTrust === 'FirstUse' && shown === ''
  if (shown === '' && !isFirstUse) return null
  const mayConfirm = session.may(connection.isOverrideDefaults ? 'fleet:write' : 'config:write')
  if (hostKeyFingerprint !== '' && shown !== '')
    return (
      <Text as="p" role="note">
        {strings.keyChanged({ pinned: <code>{hostKeyFingerprint}</code>, presented: <code>{shown}</code> })}
      </Text>
    )
  const key = isFirstUse ? hostKeyFingerprint : shown
  const [asked, ask] = isFirstUse
    ? [strings.firstUse, strings.firstUseAsk]
    : [strings.firstContact, strings.firstContactAsk]
  const text = mayConfirm ? asked : ask
  return (
    <Text as="p" role="note">
      {text({
        key: <code>{key}</code>,
        code: (text) => <code>{text}</code>,
      })}
      {mayConfirm ? (
        <>
          {' '}
          <Button size="compact-xs" variant="default" onClick={() => actions.confirmKey(computerName, key)}>
            {strings.confirmKeyMenu}
          </Button>
        </>
      ) : null}
    </Text>
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
  const actions = useConnectionActions()
  const removing = useConnectionActions(close)
  const canWrite = session.may('fleet:write')
  if (connection.data === undefined)
    return connection.error === null ? <DetailSkeleton /> : <ErrorState query={connection} />
  if (connection.data === null)
    return (
      <EmptyState icon="network" title={strings.notFound}>
        <p>{strings.notFoundText}</p>
      </EmptyState>
    )
  const { computerName } = connection.data
  return (
    <>
      <Row as="header" align="start" pad="12px 48px 8px 16px">
        <h2>
          <DeviceText value={computerName} />
        </h2>
        {canWrite ? (
          <Button size="compact-sm" variant="default" onClick={() => actions.poll([computerName])}>
            {connection.data.isRegistered ? strings.pollNow : strings.startPolling}
          </Button>
        ) : null}
        <MoreMenu
          label={strings.moreActions}
          curl={() => curlOf(listConnections, { query: { ComputerName: computerName } })}
        >
          {canWrite && connection.data.isRegistered ? (
            <Menu.Item onClick={() => actions.stop([computerName])}>{strings.stopPollingMenu}</Menu.Item>
          ) : null}
          {canWrite ? <Menu.Item onClick={() => removing.remove([computerName])}>{strings.askDelete}</Menu.Item> : null}
        </MoreMenu>
      </Row>
      <DrawerBody>
        {status.data === undefined || status.data === null ? null : <LastRun status={status.data} />}
        <HostKey connection={connection.data} />
        <Unconfirmed connection={connection.data} />
        {canWrite ? (
          <ConnectionForm connection={connection.data} close={close} onSaved={onSaved} />
        ) : (
          <Details connection={connection.data} />
        )}
      </DrawerBody>
    </>
  )
}

/** The drawer of an agentless host: its last poll and its connection, or the form that adds one. */
export const ConnectionDrawer = ({ name, close, onSaved }: BodyProps) => (
  // A new key after adding a host keeps the focus in the drawer.
  <SidePanel key={name === newConnection ? 'new' : 'known'} label={strings.host} close={close}>
    {name === newConnection ? (
      <>
        <Row as="header" align="start" pad="12px 48px 8px 16px">
          <h2>{strings.add}</h2>
        </Row>
        <DrawerBody>
          <ConnectionForm connection={null} close={close} onSaved={onSaved} />
        </DrawerBody>
      </>
    ) : (
      <Body key={name} name={name} close={close} onSaved={onSaved} />
    )}
  </SidePanel>
)
