import { Button, Checkbox, NumberInput, SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { isStoredRequest } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { Note, Quiet, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { buildSystems } from '#features/builds/console/shared/build-systems.ts'
import { gradeLabels } from '#features/commands/console/shared/arming/grade.ts'
import { RevertSelect } from '#features/commands/console/shared/arming/RevertSelect.tsx'
import { planRollout, type RolloutKind, type RolloutPlan, startRollout } from '#features/contract.ts'
import { armingText } from '#features/policy/console/shared/labels.ts'
import { RingEditor } from './RingEditor.tsx'
import { draftFault, firstDraft, hostLabels, inputOf, type RolloutDraft } from './rollout.ts'
import { strings } from './strings.ts'

// The plan loads after this pause in typing.
const typingPause = 400

const number = (value: number) => value.toLocaleString('en')

/** Says how many hosts of a plan would hold a port because of a driver mismatch; empty if none. */
const mismatchText = ({ rings }: RolloutPlan): string => {
  const hosts = rings.reduce((total, ring) => total + ring.mismatched.hosts, 0)
  const devices = rings.reduce((total, ring) => total + ring.mismatched.devices, 0)
  if (devices === 0) return ''
  return strings.mismatched({ devices, hosts })
}

/** Says what arming blocks, and which of these devices the rings do not count because they keep working for now. */
const predictionText = ({ prediction, rings }: RolloutPlan): string => {
  if (prediction === null) return ''
  const spared = prediction.blocked.peripherals - rings.reduce((total, ring) => total + ring.predictedBlocks, 0)
  return spared > 0 ? `${armingText(prediction)} ${strings.spared({ devices: spared })}` : armingText(prediction)
}

const Plan = ({ plan, isStale }: { plan: RolloutPlan | undefined; isStale: boolean }) => (
  <Stack gap={8} data-stale={isStale || undefined}>
    <SmallTable
      label={strings.rings}
      head={[
        strings.ring,
        right(strings.hosts),
        right(strings.ready),
        right(strings.disconnected),
        right(strings.noChangeNeeded),
        right(strings.unsupported),
        right(strings.predictedBlocks),
        strings.reason,
      ]}
      rows={plan?.rings.map((ring, index) => ({
        key: `${index} ${ring.name}`,
        cells: [
          <DeviceText key="name" value={ring.name} />,
          number(ring.hosts),
          number(ring.ready),
          number(ring.offline),
          number(ring.unchanged),
          number(ring.notReady),
          number(ring.predictedBlocks),
          ring.reasons.map(({ reason, hosts }) => strings.reasonWithCount({ count: hosts, reason })).join(' '),
        ],
      }))}
      empty=""
    />
    {plan === undefined ? null : (
      <Note>
        {[
          plan.outside === 0 ? strings.allInRings : strings.outsideRings({ count: plan.outside }),
          mismatchText(plan),
          predictionText(plan),
          ...plan.builds.map(({ architecture, version }) =>
            strings.build({ system: buildSystems[architecture], version }),
          ),
        ]
          .filter((text) => text !== '')
          .join(' ')}
      </Note>
    )}
    {plan === undefined || plan.hosts.length === 0 ? null : (
      <details>
        <summary>{strings.hostsToCheckCount({ count: plan.hosts.length })}</summary>
        <SmallTable
          label={strings.hostsToCheck}
          head={[
            strings.hostName,
            strings.ring,
            strings.ready,
            strings.enforcement,
            strings.lastSeen,
            right(strings.predictedBlocks),
          ]}
          rows={plan.hosts.map((host) => ({
            key: host.uuid,
            cells: [
              <PlainLink key="host" href={agentAddress(host.uuid)}>
                <DeviceText value={host.hostIdentifier} />
              </PlainLink>,
              <DeviceText key="ring" value={plan.rings[host.ring]?.name} />,
              host.state === 'waiting' ? (
                strings.ready
              ) : (
                <DeviceText key="state" value={host.reason === '' ? hostLabels[host.state].word : host.reason} />
              ),
              <span key="grade" title={gradeLabels(host.enforcement).long}>
                {gradeLabels(host.enforcement).short}
              </span>,
              <Time key="contact" value={host.lastContact} />,
              number(host.predictedBlocks),
            ],
          }))}
          empty=""
        />
      </details>
    )}
  </Stack>
)

/** State of the form: draft, plan and start. */
const useNewRollout = () => {
  const { api, queries } = useServices()
  const navigate = useNavigate()
  const search = useSearch({ from: '/inside/rollouts/new' })
  const [draft, setDraft] = useState<RolloutDraft>(() => firstDraft(search.kind ?? 'arm'))
  const [stored, setStored] = useState<unknown>(null)
  const set = (part: Partial<RolloutDraft>) => {
    setStored(null)
    setDraft((old) => ({ ...old, ...part }))
  }
  const fault = draftFault(draft)
  const input = inputOf(draft)
  // The name does not affect the plan.
  const [asked] = useDebouncedValue(JSON.stringify({ ...input, name: 'Plan' }), typingPause)
  const plan = useRead(['rollout-plan', asked], planRollout, {
    body: JSON.parse(asked) as typeof input,
    enabled: fault === null,
    placeholderData: keepPreviousData,
  })
  const hosts = plan.data?.rings.reduce((sum, ring) => sum + ring.ready + ring.offline, 0) ?? 0
  const start = () =>
    confirm({
      title: draft.kind === 'arm' ? strings.startArming : strings.startUpdating,
      names: draft.rings.map(({ name }) => name),
      count: hosts,
      kind: strings.hostCount,
      consequence: (draft.kind === 'arm' ? strings.startArmingEffect : strings.startUpdatingEffect)({
        minutes: draft.dwellMinutes,
      }),
      action: strings.start,
      run: async () => {
        const started = await api.call(startRollout, { body: input }).catch((reason: unknown) => {
          if (isStoredRequest(reason)) setStored(reason)
          throw reason
        })
        tell(strings.startedToast)
        void queries.invalidateQueries({ queryKey: ['rollouts'] })
        void navigate({ to: '/rollouts/$id', params: { id: started.id } })
      },
    })
  return {
    draft,
    set,
    fault,
    plan,
    hosts,
    stored,
    start,
    curl: () => curlOf(startRollout, { body: input }),
  }
}

interface FieldsProps {
  draft: RolloutDraft
  set: (part: Partial<RolloutDraft>) => void
}

const KindFields = ({ draft, set }: FieldsProps) => (
  <Row gap={12} align="end" wrap>
    <SegmentedControl
      size="xs"
      aria-label={strings.action}
      value={draft.kind}
      data={[
        { value: 'arm', label: strings.armHosts },
        { value: 'update', label: strings.updateAgents },
      ]}
      onChange={(kind) => set({ kind: kind as RolloutKind })}
    />
    <TextInput
      size="xs"
      label={strings.name}
      placeholder={strings.namePlaceholder}
      value={draft.name}
      maxLength={64}
      onChange={(event) => set({ name: event.currentTarget.value })}
    />
  </Row>
)

const LimitFields = ({ draft, set }: FieldsProps) => (
  <Row gap={12} align="end" wrap>
    <NumberInput
      size="xs"
      label={strings.dwell}
      suffix={` ${strings.minutesUnit}`}
      min={1}
      max={43_200}
      clampBehavior="strict"
      value={draft.dwellMinutes}
      onChange={(value) => set({ dwellMinutes: Number(value) || 1 })}
    />
    <NumberInput
      size="xs"
      label={strings.failureLimit}
      suffix={` ${strings.percentOfRing}`}
      min={0}
      max={100}
      clampBehavior="strict"
      value={draft.failurePercent}
      onChange={(value) => set({ failurePercent: Number(value) || 0 })}
    />
    {draft.kind === 'arm' ? (
      <NumberInput
        size="xs"
        label={strings.blockLimit}
        suffix={` ${strings.percentOfRing}`}
        min={0}
        max={100}
        clampBehavior="strict"
        value={draft.blocksOverPercent}
        onChange={(value) => set({ blocksOverPercent: Number(value) || 0 })}
      />
    ) : null}
  </Row>
)

/** Plans a rollout: rings, limits, and a preview. */
export const NewRolloutPage = () => {
  useTitle(strings.newRollout)
  const { draft, set, fault, plan, hosts, stored, start, curl } = useNewRollout()
  return (
    <SettingsPage
      title={strings.newRollout}
      actions={
        <>
          <LinkButton to="/rollouts" size="compact-sm" variant="default">
            {strings.back}
          </LinkButton>
          <MoreMenu curl={curl} />
        </>
      }
    >
      <Stack>
        <KindFields draft={draft} set={set} />
        <h2>{strings.rings}</h2>
        <RingEditor rings={draft.rings} change={(rings) => set({ rings })} />
        <h2>{strings.limits}</h2>
        <LimitFields draft={draft} set={set} />
        {draft.kind === 'arm' ? (
          <>
            <Checkbox
              size="sm"
              label={strings.applyToAttached}
              description={strings.applyToAttachedHint}
              checked={draft.applyToPresent}
              onChange={(event) => set({ applyToPresent: event.currentTarget.checked })}
            />
            <RevertSelect
              value={draft.revertMinutes}
              decided={undefined}
              onChange={(revertMinutes) => set({ revertMinutes })}
            />
          </>
        ) : null}
      </Stack>
      <h2>{strings.preview}</h2>
      {fault === null ? null : (
        <Text as="p" tone="red">
          {fault}
        </Text>
      )}
      <ErrorState query={plan} inline />
      {plan.error !== null && plan.data === undefined ? null : (
        <Plan plan={plan.data} isStale={plan.isPlaceholderData || fault !== null} />
      )}
      <ErrorState failure={stored} inline />
      <Row wrap gap={16}>
        {stored === null ? (
          <Button
            size="sm"
            disabled={fault !== null || plan.data === undefined || plan.isPlaceholderData || hosts === 0}
            onClick={start}
          >
            {strings.askStart}
          </Button>
        ) : null}
        {plan.data !== undefined && hosts === 0 ? <Quiet small>{strings.noHosts}</Quiet> : null}
      </Row>
    </SettingsPage>
  )
}
