import { Button } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { FullPage } from '@portcullis/platform/console/ui/FullPage.tsx'
import { Note, Panel, Quiet, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { buildSystems } from '#features/builds/console/shared/build-systems.ts'
import {
  cancelRollout,
  getRollout,
  haltRollout,
  pauseRollout,
  previewBulk,
  type Rollout,
  resumeRollout,
  revertRollout,
} from '#features/contract.ts'
import { worksAgainText } from '#features/policy/console/shared/labels.ts'
import { RingBar } from './RingBar.tsx'
import { RolloutHosts } from './RolloutHosts.tsx'
import { hostsToFree } from './revert.ts'
import { controlsOf, kindLabels, ringText } from './rollout.ts'
import { State } from './State.tsx'
import { strings } from './strings.ts'

const ringStates = {
  waiting: strings.waiting,
  running: strings.inProgress,
  done: strings.completed,
} as const

const Ring = ({ ring, index, isArming }: { ring: Rollout['rings'][number]; index: number; isArming: boolean }) => (
  <Panel
    as="li"
    dense
    style={['running', 'dwelling'].includes(ring.state) ? { borderColor: 'var(--pc-accent)' } : undefined}
  >
    <Row align="baseline" gap={12}>
      <strong>
        {index + 1}. <DeviceText value={ring.name} />
      </strong>
      <Quiet small>
        <DeviceText value={ringText(ring)} />
      </Quiet>
      <Text end small>
        {ring.state === 'dwelling'
          ? strings.dwelling({ time: <Time key="time" value={ring.dwellUntil} form="until" /> })
          : ringStates[ring.state]}
      </Text>
    </Row>
    <RingBar ring={ring} />
    {isArming && ring.startedAt !== null ? (
      <Note>
        {strings.blocks({ actual: ring.actualBlocks, predicted: ring.predictedBlocks })}{' '}
        {ring.overPrediction === 0 ? '' : strings.unexpectedBlocks({ hosts: ring.overPrediction })}
      </Note>
    ) : null}
  </Panel>
)

const useRollout = (id: string) => {
  const rollout = useRead(['rollouts', id], getRollout, {
    params: { id },
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? 5_000 : false),
  })
  useLiveRefresh(['agents'], 2_000, () => void rollout.refetch())
  return rollout
}

/** Buttons that control a rollout. */
const Controls = ({ rollout: data }: { rollout: Rollout }) => {
  const { api, queries } = useServices()
  const { id } = data
  const [busy, setBusy] = useState(false)
  const can = controlsOf(data)
  const send = async (operation: typeof pauseRollout, message: string) => {
    queries.setQueryData(['rollouts', id], await api.call(operation, { params: { id } }))
    tell(message)
  }
  const now = (operation: typeof pauseRollout, message: string) => {
    setBusy(true)
    send(operation, message)
      .catch(tellFailure)
      .finally(() => setBusy(false))
  }
  const askRevert = async () => {
    try {
      const uuids = await hostsToFree(api, id)
      const again =
        uuids.length === 0 ? null : (await api.call(previewBulk, { body: { uuids, action: 'free' } })).worksAgain
      confirm({
        title: strings.revert,
        names: data.rings.map(({ name }) => name),
        count: commanded,
        kind: strings.hostCount,
        consequence: strings.revertEffect,
        worksAgain: again === null ? null : worksAgainText(again),
        ...(commanded > 1 ? { reasonFor: strings.whyDevicesOnHosts } : {}),
        run: async (reason) => {
          const body = reason === '' ? {} : { reason }
          queries.setQueryData(['rollouts', id], await api.call(revertRollout, { params: { id }, body }))
          tell(strings.reverting)
        },
      })
    } catch (failure) {
      tellFailure(failure)
    }
  }
  const commanded = data.rings.reduce((sum, { hosts }) => sum + hosts.done + hosts.commanded, 0)
  return (
    <Row wrap>
      {can.pause ? (
        <Button
          size="compact-sm"
          variant="default"
          loading={busy}
          onClick={() => now(pauseRollout, strings.pausedToast)}
        >
          {strings.pause}
        </Button>
      ) : null}
      {can.resume ? (
        <Button size="compact-sm" loading={busy} onClick={() => now(resumeRollout, strings.resumedToast)}>
          {data.state === 'halted' ? strings.acceptAndResume : strings.resume}
        </Button>
      ) : null}
      {can.halt ? (
        <Button
          size="compact-sm"
          variant="default"
          loading={busy}
          onClick={() => now(haltRollout, strings.haltedToast)}
        >
          {strings.halt}
        </Button>
      ) : null}
      {can.revert ? (
        <Button size="compact-sm" variant="default" onClick={() => void askRevert()}>
          {strings.askRevert}
        </Button>
      ) : null}
      {can.cancel ? (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() =>
            confirm({
              title: strings.cancel,
              names: [data.name],
              kind: strings.rolloutCount,
              consequence: strings.cancelEffect,
              run: () => send(cancelRollout, strings.cancelledToast),
            })
          }
        >
          {strings.askCancel}
        </Button>
      ) : null}
    </Row>
  )
}

const Head = ({ rollout: data }: { rollout: Rollout }) => {
  const { session } = useServices()
  const { id } = data
  return (
    <Stack as="header" gap={8}>
      <h2>
        <DeviceText value={data.name} />
      </h2>
      <Row wrap gap={12} small>
        <State state={data.state} />
        <span>{kindLabels[data.kind]}</span>
        {data.builds.map(({ architecture, version }) => (
          <span key={architecture}>
            {buildSystems[architecture]} → <DeviceText value={version} />
          </span>
        ))}
        <Quiet small>
          {strings.startedBy({
            time: <Time key="time" value={data.createdAt} form="local" />,
            user: <DeviceText key="user" value={data.createdBy} />,
          })}
        </Quiet>
        <MoreMenu curl={() => curlOf(getRollout, { params: { id } })} />
      </Row>
      {data.reason === '' ? null : (
        <Text as="p" tone="red">
          <DeviceText value={data.reason} />
        </Text>
      )}
      <Note>
        {data.kind === 'arm'
          ? strings.armLimits({
              minutes: data.dwellMinutes,
              failures: data.failurePercent,
              blocks: data.blocksOverPercent,
            })
          : strings.updateLimits({ minutes: data.dwellMinutes, failures: data.failurePercent })}
      </Note>
      {session.may('fleet:write') ? <Controls rollout={data} /> : null}
    </Stack>
  )
}

/** One rollout with its rings, controls and hosts. */
export const RolloutPage = () => {
  const { id } = useParams({ from: '/inside/rollouts/$id' })
  const rollout = useRollout(id)
  useTitle(rollout.data?.name ?? strings.rollout)
  const back = <Link to="/rollouts">{strings.rollouts}</Link>

  if (rollout.error instanceof CallFailure && rollout.error.code === 'not_found') {
    return (
      <FullPage title={strings.rollout} back={back}>
        <EmptyState icon="rollout" title={strings.notFound}>
          <p>{strings.notFoundHint}</p>
        </EmptyState>
      </FullPage>
    )
  }
  if (rollout.data === undefined) {
    return (
      <FullPage title={strings.rollout} back={back}>
        {rollout.error === null ? <DetailSkeleton /> : <ErrorState query={rollout} />}
      </FullPage>
    )
  }
  const data = rollout.data
  return (
    <FullPage title={strings.rollout} back={back}>
      <Stack pad="12px 16px 16px" style={{ minHeight: '100%' }}>
        <Head rollout={data} />
        <Stack as="ol" gap={8}>
          {data.rings.map((ring, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rings never change their order
            <Ring key={index} ring={ring} index={index} isArming={data.kind === 'arm'} />
          ))}
        </Stack>
        <RolloutHosts rollout={data} />
      </Stack>
    </FullPage>
  )
}
