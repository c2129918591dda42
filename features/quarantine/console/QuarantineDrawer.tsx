import { Button } from '@mantine/core'
import { agentAddress, deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Panel, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SidePanel, SidePanelHead } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { StepList } from '@portcullis/platform/console/ui/steps/StepList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listQuarantines, nacSystemNames, type Quarantine } from '#features/contract.ts'
import { isClearable, isWaiting, useQuarantineActions } from './quarantine-actions.ts'
import { Ends } from './quarantines.view.tsx'
import { QuarantineDialog } from './shared/QuarantineDialog.tsx'
import { State } from './shared/State.tsx'
import { useNacSystems } from './shared/useNac.ts'
import { strings } from './strings.ts'
import { timelineOf } from './timeline.ts'

// A host rarely has more quarantines; older ones are in the list.
const maxSearched = 1_000

const Timeline = ({ quarantine }: { quarantine: Quarantine }) => {
  const { lines, next } = timelineOf(quarantine)
  return (
    <Panel aria-label={strings.timeline} tone="sunken">
      <h3>{strings.timeline}</h3>
      <StepList
        steps={[
          ...lines.map(({ key, label, mark, seen, by, at }) => ({
            key,
            words: label,
            state: mark,
            seen,
            aside: (
              <>
                <DeviceText value={by === 'system' ? strings.thisServer : by} /> · <Time value={at} />
              </>
            ),
          })),
          ...(next === null ? [] : [{ key: 'next', words: next, state: 'running' as const }]),
        ]}
      />
    </Panel>
  )
}

const Details = ({ quarantine }: { quarantine: Quarantine }) => {
  const { system, policy, macs, targets, unconfirmed, deviceID, uuid, attempts } = quarantine
  return (
    <Facts
      rows={[
        [strings.systemColumn, nacSystemNames[system]],
        [system === 'ise' ? strings.ancPolicy : strings.property, <DeviceText key="policy" value={policy} />],
        [strings.reason, <DeviceText key="reason" value={quarantine.reason} />],
        ...(deviceID === ''
          ? []
          : [
              [
                strings.cause,
                <PlainLink key="device" href={deviceAddress(uuid, deviceID)}>
                  {strings.attachedDevice}
                </PlainLink>,
              ] as const,
            ]),
        [
          strings.requestedBy,
          quarantine.isAutomatic ? strings.automatically : <DeviceText key="by" value={quarantine.by} />,
        ],
        [strings.requested, <Time key="since" value={quarantine.createdAt} form="local" />],
        [strings.expires, <Ends key="ends" quarantine={quarantine} />],
        [strings.addresses, <DeviceText key="macs" value={macs.join(', ')} />],
        [
          strings.quarantinedAddresses,
          targets.length === 0 ? strings.none : <DeviceText key="targets" value={targets.join(', ')} />,
        ],
        ...(unconfirmed.length === 0
          ? []
          : [[strings.unconfirmed, <DeviceText key="unconfirmed" value={unconfirmed.join(', ')} />] as const]),
        ...(attempts === 0 ? [] : [[strings.failedAttempts, attempts.toLocaleString('en')] as const]),
      ]}
    />
  )
}

const Body = ({ name }: { name: string }) => {
  const { api, session } = useServices()
  const [uuid = '', id = ''] = name.split('~')
  const query = { uuid, PageSize: maxSearched }
  const quarantine = useQuery({
    queryKey: ['quarantine', name],
    queryFn: async ({ signal }) =>
      (await api.call(listQuarantines, { query, signal })).data.find((one) => one.id === id) ?? null,
  })
  useLive('agents', ({ changed }) => {
    if (changed === null || changed.includes(uuid)) void quarantine.refetch()
  })
  const decide = useQuarantineActions(() => undefined)
  const inUse = useNacSystems()
  const [isTryingAgain, setIsTryingAgain] = useState(false)
  if (quarantine.data === undefined)
    return quarantine.error === null ? <DetailSkeleton /> : <ErrorState query={quarantine} />
  if (quarantine.data === null)
    return (
      <EmptyState icon="lock" title={strings.notFound}>
        <p>{strings.notFoundText}</p>
      </EmptyState>
    )
  const data = quarantine.data
  return (
    <>
      <SidePanelHead>
        <h2>
          <PlainLink href={agentAddress(data.uuid)}>
            <DeviceText value={data.hostIdentifier} />
          </PlainLink>
        </h2>
        <MoreMenu label={strings.moreActions} curl={() => curlOf(listQuarantines, { query: { uuid: data.uuid } })} />
      </SidePanelHead>
      <Stack grow gap={16} pad="4px 16px 16px" scroll>
        <Row wrap small>
          <State state={data.state} />
          {session.may('fleet:write') ? (
            <>
              {isWaiting(data) ? (
                <>
                  <Button size="compact-sm" onClick={() => decide('approve', [data])}>
                    {strings.quarantineMenu}
                  </Button>
                  <Button size="compact-sm" variant="default" onClick={() => decide('dismiss', [data])}>
                    {strings.dismissMenu}
                  </Button>
                </>
              ) : null}
              {data.state === 'failed' && inUse.some(({ system }) => system === data.system) ? (
                <Button size="compact-sm" variant="default" onClick={() => setIsTryingAgain(true)}>
                  {strings.retryMenu}
                </Button>
              ) : null}
              {isClearable(data) ? (
                <Button size="compact-sm" variant="default" onClick={() => decide('clear', [data])}>
                  {strings.releaseMenu}
                </Button>
              ) : null}
            </>
          ) : null}
        </Row>
        {data.error === '' ? null : (
          <Panel as="p" tone="sunken" dense breaks role="note">
            <DeviceText value={data.error} />
          </Panel>
        )}
        <Timeline quarantine={data} />
        <Details quarantine={data} />
      </Stack>
      <QuarantineDialog
        question={
          isTryingAgain
            ? { uuid: data.uuid, hostIdentifier: data.hostIdentifier, system: data.system, reason: data.reason }
            : null
        }
        close={() => setIsTryingAgain(false)}
      />
    </>
  )
}

/** The drawer of a quarantine: its state, its timeline, and the actions. */
export const QuarantineDrawer = ({ name, close }: { name: string; close: () => void }) => (
  <SidePanel label={strings.quarantine} close={close}>
    <Body key={name} name={name} />
  </SidePanel>
)
