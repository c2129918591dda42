import { Button, Checkbox, Group, NumberInput, SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { planRollout, type RolloutKind, type RolloutPlan, startRollout } from '@portcullis/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { agentAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { isStoredRequest } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { basisText, counted } from '../../ui/policy/labels.ts'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { RingEditor } from './RingEditor.tsx'
import { draftFault, firstDraft, hostWords, inputOf, type RolloutDraft } from './rollout.ts'
import classes from './rollouts.module.css'
import { strings } from './strings.ts'

// While somebody types, nothing is planned.
const typingPause = 400

const number = (value: number) => value.toLocaleString('en')

/** What a kernel that binds unexpected drivers would do to the hosts of a plan; empty: nothing. */
const mismatchText = ({ rings }: RolloutPlan): string => {
  const hosts = rings.reduce((total, ring) => total + ring.mismatched.hosts, 0)
  const devices = rings.reduce((total, ring) => total + ring.mismatched.devices, 0)
  if (devices === 0) return ''
  return ` ${number(devices)} ${devices === 1 ? 'device has' : 'devices have'} a kernel driver that their kind may not have; ${number(hosts)} ${hosts === 1 ? 'host' : 'hosts'} would hold the port.`
}

const Plan = ({ plan, isStale }: { plan: RolloutPlan | undefined; isStale: boolean }) => (
  <div className={classes.plan} data-stale={isStale || undefined}>
    <SmallTable
      label={strings.rings}
      head={[
        strings.ring,
        { title: strings.hosts, align: 'right' },
        { title: strings.ready, align: 'right' },
        { title: strings.notConnected, align: 'right' },
        { title: strings.soAlready, align: 'right' },
        { title: strings.cannot, align: 'right' },
        { title: strings.predictedBlocks, align: 'right' },
        strings.whyNot,
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
          ring.reasons.map(({ reason, hosts }) => `${number(hosts)}: ${reason}`).join(' '),
        ],
      }))}
      empty=""
    />
    {plan === undefined ? null : (
      <p className={classes.quiet}>
        {plan.outside === 0 ? strings.noHostIsLeftOutside : strings.outsideOtherHostsAreInNo({ outside: plan.outside })}
        {mismatchText(plan)}
        {plan.prediction === null ? '' : ` ${basisText(plan.prediction)}`}
        {plan.builds.map(({ architecture, version }) => ` ${architecture} gets ${version}.`).join('')}
      </p>
    )}
    {plan === undefined || plan.hosts.length === 0 ? null : (
      <details className={classes.hosts}>
        <summary>{strings.hostsToLookAtFirstHosts({ hosts: plan.hosts.length })}</summary>
        <SmallTable
          label={strings.hostsToLookAtFirst}
          head={[
            strings.host,
            strings.ring,
            strings.ready,
            strings.enforcement,
            strings.lastContact,
            { title: strings.predictedBlocks, align: 'right' },
          ]}
          rows={plan.hosts.map((host) => ({
            key: host.uuid,
            cells: [
              <PlainLink key="host" href={agentAddress(host.uuid)}>
                <DeviceText value={host.hostIdentifier} />
              </PlainLink>,
              <DeviceText key="ring" value={plan.rings[host.ring]?.name} />,
              host.state === 'waiting' ? (
                'ready'
              ) : (
                <DeviceText key="state" value={host.reason === '' ? hostWords[host.state].word : host.reason} />
              ),
              host.enforcement.replace('-', ' '),
              <Time key="contact" value={host.lastContact} />,
              number(host.predictedBlocks),
            ],
          }))}
          empty=""
        />
      </details>
    )}
  </div>
)

/** The draft of a rollout, what it would do, and how it starts. */
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
  // The name changes nothing of what it would do.
  const [asked] = useDebouncedValue(JSON.stringify({ ...input, name: 'Plan' }), typingPause)
  const plan = useQuery({
    queryKey: ['rollout-plan', asked],
    queryFn: ({ signal }) => api.call(planRollout, { body: JSON.parse(asked) as typeof input, signal }),
    enabled: fault === null,
    placeholderData: keepPreviousData,
  })
  const hosts = plan.data?.rings.reduce((sum, ring) => sum + ring.ready + ring.offline, 0) ?? 0
  const start = () =>
    confirm({
      title: draft.kind === 'arm' ? strings.startArmingInRings : strings.startUpdatingInRings,
      names: draft.rings.map(({ name }) => name),
      count: hosts,
      kind: ['host', 'hosts'],
      consequence: strings.theFirstRingGetsItNow({
        dwellMinutes: counted(draft.dwellMinutes, 'quiet minute', 'quiet minutes'),
        value: draft.kind === 'arm' ? ' and revert' : '',
      }),
      action: strings.start,
      run: async () => {
        const started = await api.call(startRollout, { body: input }).catch((reason: unknown) => {
          if (isStoredRequest(reason)) setStored(reason)
          throw reason
        })
        tell(strings.started)
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
    curl: () => curlOf(window.location.origin, startRollout, { body: input }),
  }
}

interface FieldsProps {
  draft: RolloutDraft
  set: (part: Partial<RolloutDraft>) => void
}

const KindFields = ({ draft, set }: FieldsProps) => (
  <Group gap="md" align="flex-end">
    <SegmentedControl
      size="xs"
      aria-label={strings.whatIsRolledOut}
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
      placeholder={strings.kiosksBeforeEaster}
      value={draft.name}
      maxLength={64}
      onChange={(event) => set({ name: event.currentTarget.value })}
    />
  </Group>
)

const LimitFields = ({ draft, set }: FieldsProps) => (
  <Group gap="md" align="flex-end">
    <NumberInput
      size="xs"
      label={strings.watchEachRingFor}
      suffix=" minutes"
      min={1}
      max={43_200}
      clampBehavior="strict"
      value={draft.dwellMinutes}
      onChange={(value) => set({ dwellMinutes: Number(value) || 1 })}
    />
    <NumberInput
      size="xs"
      label={strings.haltWhenMoreFailThan}
      suffix=" % of a ring"
      min={0}
      max={100}
      clampBehavior="strict"
      value={draft.failurePercent}
      onChange={(value) => set({ failurePercent: Number(value) || 0 })}
    />
    {draft.kind === 'arm' ? (
      <NumberInput
        size="xs"
        label={strings.haltWhenMoreBlockBeyondPrediction}
        suffix=" % of a ring"
        min={0}
        max={100}
        clampBehavior="strict"
        value={draft.blocksOverPercent}
        onChange={(value) => set({ blocksOverPercent: Number(value) || 0 })}
      />
    ) : null}
  </Group>
)

/** Plans a rollout: rings, how long each is watched, what halts it; and what it would do, as of now. */
export const NewRolloutPage = () => {
  useTitle(strings.newRollout)
  const { draft, set, fault, plan, hosts, stored, start, curl } = useNewRollout()
  return (
    <SettingsPage
      title={strings.newRollout}
      actions={
        <>
          <LinkButton to="/rollouts" size="compact-sm" variant="default">
            {strings.backToTheList}
          </LinkButton>
          <MoreMenu label={strings.more} curl={curl} />
        </>
      }
    >
      <div className={classes.form}>
        <KindFields draft={draft} set={set} />
        <h2>{strings.rings}</h2>
        <RingEditor rings={draft.rings} change={(rings) => set({ rings })} />
        <h2>{strings.betweenTheRings}</h2>
        <LimitFields draft={draft} set={set} />
        {draft.kind === 'arm' ? (
          <Checkbox
            size="sm"
            label={strings.judgeWhatIsAttachedNowToo}
            description={strings.elseWhatIsAttachedWhenA}
            checked={draft.applyToPresent}
            onChange={(event) => set({ applyToPresent: event.currentTarget.checked })}
          />
        ) : null}
      </div>
      <h2>{strings.whatItWouldDo}</h2>
      {fault === null ? null : <p className={classes.fault}>{fault}</p>}
      {plan.error === null ? null : <ErrorState failure={plan.error} retry={() => void plan.refetch()} inline />}
      {plan.error !== null && plan.data === undefined ? null : (
        <Plan plan={plan.data} isStale={plan.isPlaceholderData || fault !== null} />
      )}
      {stored === null ? null : <ErrorState failure={stored} inline />}
      <Group>
        {stored === null ? (
          <Button
            size="sm"
            disabled={fault !== null || plan.data === undefined || plan.isPlaceholderData || hosts === 0}
            onClick={start}
          >
            {strings.start2}
          </Button>
        ) : null}
        {plan.data !== undefined && hosts === 0 ? (
          <span className={classes.quiet}>{strings.thereIsNoHostItCould}</span>
        ) : null}
      </Group>
    </SettingsPage>
  )
}
