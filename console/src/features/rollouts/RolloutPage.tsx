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

const number = (value: number) => value.toLocaleString('en')

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
        {ring.state === 'dwelling' ? (
          <>
            watched, next ring <Time value={ring.dwellUntil} />
          </>
        ) : (
          ring.state
        )}
      </span>
    </div>
    <RingBar ring={ring} />
    {isArming && ring.startedAt !== null ? (
      <p className={classes.quiet}>
        {devices(ring.actualBlocks)} blocked, {number(ring.predictedBlocks)} predicted
        {ring.overPrediction === 0 ? '.' : `; ${hosts(ring.overPrediction)} blocked more than predicted.`}
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
        title: 'Revert this rollout',
        names: data.rings.map(({ name }) => name),
        count: commanded,
        kind: ['host', 'hosts'],
        consequence: 'those that this rollout has armed are freed. Hosts that were armed before stay armed.',
        worksAgain: again === null ? null : worksAgainText(again),
        ...(commanded > 1 ? { reasonFor: 'Why devices on these hosts may work' } : {}),
        action: 'Revert',
        run: async (reason) => {
          const body = reason === '' ? {} : { reason }
          queries.setQueryData(['rollouts', id], await api.call(revertRollout, { params: { id }, body }))
          tell('Going back.')
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
        <Button size="compact-sm" variant="default" loading={busy} onClick={() => now(pauseRollout, 'Paused.')}>
          Pause
        </Button>
      ) : null}
      {can.resume ? (
        <Button size="compact-sm" loading={busy} onClick={() => now(resumeRollout, 'It goes on.')}>
          {data.state === 'halted' ? 'Accept and go on' : 'Go on'}
        </Button>
      ) : null}
      {can.halt ? (
        <Button size="compact-sm" variant="default" loading={busy} onClick={() => now(haltRollout, 'Halted.')}>
          Halt
        </Button>
      ) : null}
      {can.revert ? (
        <Button size="compact-sm" variant="default" onClick={() => void askRevert()}>
          Revert…
        </Button>
      ) : null}
      {can.cancel ? (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() =>
            confirm({
              title: 'End this rollout',
              names: [data.name],
              kind: ['rollout', 'rollouts'],
              consequence: 'no further host gets it. What it has done stays.',
              action: 'End it',
              run: () => send(cancelRollout, 'Ended.'),
            })
          }
        >
          End…
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
          started <Time value={data.createdAt} form="local" /> by <DeviceText value={data.createdBy} />
        </span>
        <MoreMenu label="More" curl={() => curlOf(window.location.origin, getRollout, { params: { id } })} />
      </div>
      {data.reason === '' ? null : (
        <p className={classes.fault}>
          <DeviceText value={data.reason} />
        </p>
      )}
      <p className={classes.quiet}>
        Each ring is watched for {counted(data.dwellMinutes, 'minute', 'minutes')}. It halts by itself when more than{' '}
        {data.failurePercent} % of a ring fail
        {data.kind === 'arm' ? `, or more than ${data.blocksOverPercent} % block beyond what was predicted` : ''}.
      </p>
      {session.may('fleet:write') ? <Controls rollout={data} /> : null}
    </header>
  )
}

/** One rollout: its rings as they move, what can be done about it, its hosts by state. */
export const RolloutPage = () => {
  const { id } = useParams({ from: '/inside/rollouts/$id' })
  const rollout = useRollout(id)
  useTitle(rollout.data?.name ?? 'Rollout')
  const back = <Link to="/rollouts">Rollouts</Link>

  if (rollout.error instanceof CallFailure && rollout.error.code === 'not_found') {
    return (
      <FullPage back={back}>
        <EmptyState icon="rollout" title="There is no such rollout">
          <p>The address is not right, or it was long ago.</p>
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
