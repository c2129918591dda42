import { Button, Group } from '@mantine/core'
import {
  cancelRollout,
  getRollout,
  haltRollout,
  pauseRollout,
  previewBulk,
  type Rollout,
  resumeRollout,
  revertRollout,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { CallFailure } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { FullPage } from '../../ui/FullPage.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { counted, devices, hosts, worksAgainText } from '../../ui/policy/labels.ts'
import { Time } from '../../ui/Time.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { RingBar } from './RingBar.tsx'
import { RolloutHosts } from './RolloutHosts.tsx'
import { hostsToFree } from './revert.ts'
import { controlsOf, kindWords, ringText } from './rollout.ts'
import classes from './rollouts.module.css'
import { State } from './State.tsx'
import { strings } from './strings.ts'

const _number = (value: number) => value.toLocaleString('en')

const Ring = ({ ring, index, isArming }: { ring: Rollout['rings'][number]; index: number; isArming: boolean }) => (
  <li className={classes.ringCard} data-state={ring.state}>
    <div className={classes.ringHead}>
      <strong>
        {index + 1}. <DeviceText value={ring.name} />
      </strong>
      <span className={classes.quiet}>
        <DeviceText value={ringText(ring)} />
      </span>
      <span className={classes.ringState}>
        {ring.state === 'dwelling'
          ? strings.watchedNextRingTime({ time: <Time value={ring.dwellUntil} /> })
          : ring.state}
      </span>
    </div>
    <RingBar ring={ring} />
    {isArming && ring.startedAt !== null ? (
      <p className={classes.quiet}>
        {strings.actualblocksBlockedPredictedblocksPredictedValue({
          actualBlocks: devices(ring.actualBlocks),
          predictedBlocks: ring.predictedBlocks,
          value:
            ring.overPrediction === 0
              ? '.'
              : strings.overpredictionBlockedMoreThanPredicted({ overPrediction: hosts(ring.overPrediction) }),
        })}
      </p>
    ) : null}
  </li>
)

const useRollout = (id: string) => {
  const { api } = useServices()
  const rollout = useQuery({
    queryKey: ['rollouts', id],
    queryFn: ({ signal }) => api.call(getRollout, { params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? 5_000 : false),
  })
  useLiveRefresh(['agents'], 2_000, () => void rollout.refetch())
  return rollout
}

/** What can be done about a rollout. */
const Controls = ({ rollout: data }: { rollout: Rollout }) => {
  const { api, queries } = useServices()
  const { id } = data
  const [busy, setBusy] = useState(false)
  const can = controlsOf(data)
  const send = async (operation: typeof pauseRollout, words: string) => {
    queries.setQueryData(['rollouts', id], await api.call(operation, { params: { id } }))
    tell(words)
  }
  const now = (operation: typeof pauseRollout, words: string) => {
    setBusy(true)
    send(operation, words)
      .catch(tellFailure)
      .finally(() => setBusy(false))
  }
  const askRevert = async () => {
    try {
      const uuids = await hostsToFree(api, id)
      const again =
        uuids.length === 0 ? null : (await api.call(previewBulk, { body: { uuids, action: 'free' } })).worksAgain
      confirm({
        title: strings.revertThisRollout,
        names: data.rings.map(({ name }) => name),
        count: commanded,
        kind: ['host', 'hosts'],
        consequence: strings.thoseThatThisRolloutHasArmed,
        worksAgain: again === null ? null : worksAgainText(again),
        ...(commanded > 1 ? { reasonFor: strings.whyDevicesOnTheseHostsMay } : {}),
        action: strings.revert,
        run: async (reason) => {
          const body = reason === '' ? {} : { reason }
          queries.setQueryData(['rollouts', id], await api.call(revertRollout, { params: { id }, body }))
          tell(strings.goingBack)
        },
      })
    } catch (failure) {
      tellFailure(failure)
    }
  }
  const commanded = data.rings.reduce((sum, { hosts }) => sum + hosts.done + hosts.commanded, 0)
  return (
    <Group gap="sm">
      {can.pause ? (
        <Button size="compact-sm" variant="default" loading={busy} onClick={() => now(pauseRollout, strings.paused)}>
          {strings.pause}
        </Button>
      ) : null}
      {can.resume ? (
        <Button size="compact-sm" loading={busy} onClick={() => now(resumeRollout, strings.itGoesOn)}>
          {data.state === 'halted' ? strings.acceptAndGoOn : strings.goOn}
        </Button>
      ) : null}
      {can.halt ? (
        <Button size="compact-sm" variant="default" loading={busy} onClick={() => now(haltRollout, strings.halted)}>
          {strings.halt}
        </Button>
      ) : null}
      {can.revert ? (
        <Button size="compact-sm" variant="default" onClick={() => void askRevert()}>
          {strings.revert2}
        </Button>
      ) : null}
      {can.cancel ? (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() =>
            confirm({
              title: strings.endThisRollout,
              names: [data.name],
              kind: ['rollout', 'rollouts'],
              consequence: strings.noFurtherHostGetsItWhat,
              action: strings.endIt,
              run: () => send(cancelRollout, strings.ended),
            })
          }
        >
          {strings.end}
        </Button>
      ) : null}
    </Group>
  )
}

const Head = ({ rollout: data }: { rollout: Rollout }) => {
  const { session } = useServices()
  const { id } = data
  return (
    <header className={classes.detailHead}>
      <h2>
        <DeviceText value={data.name} />
      </h2>
      <div className={classes.line}>
        <State state={data.state} />
        <span>{kindWords[data.kind]}</span>
        {data.builds.map(({ architecture, version }) => (
          <span key={architecture}>
            {architecture} → <DeviceText value={version} />
          </span>
        ))}
        <span className={classes.quiet}>
          {strings.startedTimeByDevicetext({
            time: <Time value={data.createdAt} form="local" />,
            deviceText: <DeviceText value={data.createdBy} />,
          })}
        </span>
        <MoreMenu label={strings.more} curl={() => curlOf(window.location.origin, getRollout, { params: { id } })} />
      </div>
      {data.reason === '' ? null : (
        <p className={classes.fault}>
          <DeviceText value={data.reason} />
        </p>
      )}
      <p className={classes.quiet}>
        {strings.eachRingIsWatchedForDwellminutes({
          dwellMinutes: counted(data.dwellMinutes, 'minute', 'minutes'),
          failurePercent: data.failurePercent,
          value:
            data.kind === 'arm'
              ? strings.orMoreThanBlocksoverpercentBlockBeyond({ blocksOverPercent: data.blocksOverPercent })
              : '',
        })}
      </p>
      {session.may('fleet:write') ? <Controls rollout={data} /> : null}
    </header>
  )
}

/** One rollout: its rings as they move, what can be done about it, its hosts by state. */
export const RolloutPage = () => {
  const { id } = useParams({ from: '/inside/rollouts/$id' })
  const rollout = useRollout(id)
  useTitle(rollout.data?.name ?? strings.rollout)
  const back = <Link to="/rollouts">{strings.rollouts}</Link>

  if (rollout.error instanceof CallFailure && rollout.error.code === 'not_found') {
    return (
      <FullPage back={back}>
        <EmptyState icon="rollout" title={strings.thereIsNoSuchRollout}>
          <p>{strings.theAddressIsNotRightOr}</p>
        </EmptyState>
      </FullPage>
    )
  }
  if (rollout.data === undefined) {
    return (
      <FullPage back={back}>
        {rollout.error === null ? (
          <DetailSkeleton />
        ) : (
          <ErrorState failure={rollout.error} retry={() => void rollout.refetch()} />
        )}
      </FullPage>
    )
  }
  const data = rollout.data
  return (
    <FullPage back={back}>
      <div className={classes.detail}>
        <Head rollout={data} />
        <ol className={classes.ringCards}>
          {data.rings.map((ring, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rings of a rollout never change their places
            <Ring key={index} ring={ring} index={index} isArming={data.kind === 'arm'} />
          ))}
        </ol>
        <RolloutHosts rollout={data} />
      </div>
    </FullPage>
  )
}
