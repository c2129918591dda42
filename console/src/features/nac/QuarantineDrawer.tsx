import { Button } from '@mantine/core'
import { listQuarantines, nacSystemNames, type Quarantine } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { agentAddress, deviceAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { QuarantineDialog } from '../../ui/nac/QuarantineDialog.tsx'
import { State } from '../../ui/nac/State.tsx'
import { useNacSystems } from '../../ui/nac/useNac.ts'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { SidePanel, SidePanelHead } from '../../ui/SidePanel.tsx'
import { StepList } from '../../ui/steps/StepList.tsx'
import { Time } from '../../ui/Time.tsx'
import { useLive } from '../../ui/useLive.ts'
import classes from './nac.module.css'
import { isClearable, isWaiting, useQuarantineActions } from './quarantine-actions.ts'
import { Ends } from './quarantines.view.tsx'
import { strings } from './strings.ts'
import { timelineOf } from './timeline.ts'

// A host is rarely quarantined so often; older ones are found by the list.
const lookedThrough = 1_000

const Story = ({ quarantine }: { quarantine: Quarantine }) => {
  const { lines, next } = timelineOf(quarantine)
  return (
    <section aria-label={strings.story} className={classes.story}>
      <h3>{strings.whatHappened}</h3>
      <StepList
        steps={[
          ...lines.map(({ key, words, mark, seen, by, at }) => ({
            key,
            words,
            state: mark,
            seen,
            aside: (
              <>
                <DeviceText value={by === 'system' ? 'this server' : by} /> · <Time value={at} />
              </>
            ),
          })),
          ...(next === null ? [] : [{ key: 'next', words: next, state: 'running' as const }]),
        ]}
      />
    </section>
  )
}

const WhatIsMeant = ({ quarantine }: { quarantine: Quarantine }) => {
  const { system, policy, macs, targets, deviceID, uuid, attempts } = quarantine
  return (
    <Facts
      rows={[
        [strings.system, nacSystemNames[system]],
        [system === 'ise' ? 'ANC policy' : strings.property, <DeviceText key="policy" value={policy} />],
        [strings.reason, <DeviceText key="reason" value={quarantine.reason} />],
        ...(deviceID === ''
          ? []
          : [
              [
                strings.becauseOf,
                <PlainLink key="device" href={deviceAddress(uuid, deviceID)}>
                  {strings.theAttachedDevice}
                </PlainLink>,
              ] as const,
            ]),
        [
          strings.askedBy,
          quarantine.isAutomatic ? strings.thisServerByItself : <DeviceText key="by" value={quarantine.by} />,
        ],
        [strings.askedFor, <Time key="since" value={quarantine.createdAt} form="local" />],
        [strings.ends, <Ends key="ends" quarantine={quarantine} />],
        [strings.addresses, <DeviceText key="macs" value={macs.join(', ')} />],
        [
          strings.quarantinedByThisServer,
          targets.length === 0 ? 'none' : <DeviceText key="targets" value={targets.join(', ')} />,
        ],
        ...(attempts === 0 ? [] : [[strings.failedTries, attempts.toLocaleString('en')] as const]),
      ]}
    />
  )
}

const Body = ({ name }: { name: string }) => {
  const { api, session } = useServices()
  const [uuid = '', id = ''] = name.split('~')
  const query = { uuid, PageSize: lookedThrough }
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
    return quarantine.error === null ? (
      <DetailSkeleton />
    ) : (
      <ErrorState failure={quarantine.error} retry={() => void quarantine.refetch()} />
    )
  if (quarantine.data === null)
    return (
      <EmptyState icon="lock" title={strings.thisQuarantineIsNotHere}>
        <p>{strings.theAddressIsNotRightOr}</p>
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
        <MoreMenu
          label={strings.moreOfThisQuarantine}
          curl={() => curlOf(window.location.origin, listQuarantines, { query: { uuid: data.uuid } })}
        />
      </SidePanelHead>
      <div className={classes.body}>
        <div className={classes.line}>
          <State state={data.state} />
          {session.may('fleet:write') ? (
            <>
              {isWaiting(data) ? (
                <>
                  <Button size="compact-sm" onClick={() => decide('approve', [data])}>
                    {strings.quarantine}
                  </Button>
                  <Button size="compact-sm" variant="default" onClick={() => decide('dismiss', [data])}>
                    {strings.dismiss}
                  </Button>
                </>
              ) : null}
              {data.state === 'failed' && inUse.some(({ system }) => system === data.system) ? (
                <Button size="compact-sm" variant="default" onClick={() => setIsTryingAgain(true)}>
                  {strings.tryAgain}
                </Button>
              ) : null}
              {isClearable(data) ? (
                <Button size="compact-sm" variant="default" onClick={() => decide('clear', [data])}>
                  {strings.takeBack}
                </Button>
              ) : null}
            </>
          ) : null}
        </div>
        {data.error === '' ? null : (
          <p className={classes.error} role="note">
            <DeviceText value={data.error} />
          </p>
        )}
        <Story quarantine={data} />
        <WhatIsMeant quarantine={data} />
      </div>
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

/** The drawer of a quarantine: how it stands, its story, and what can be decided. */
export const QuarantineDrawer = ({ name, close }: { name: string; close: () => void }) => (
  <SidePanel label={strings.quarantine2} close={close}>
    <Body key={name} name={name} />
  </SidePanel>
)
