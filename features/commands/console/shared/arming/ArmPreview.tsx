import { SegmentedControl } from '@mantine/core'
import { getPolicyTest, type Prediction, predictedDays } from '@portcullis/contract'
import { deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { Columns, Note, Panel, Quiet, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { basisText, blockedText, type Examined, type Subject } from '#features/policy/console/shared/labels.ts'
import { type ArmHosts, lookBacks } from './look-backs.ts'
import { strings } from './strings.ts'

const periods = ['1', '7', '30', '90'] as const
const shown = 6

type Simulated = Examined & { blocked: Subject }

const sumOf = (one: Subject, other: Subject): Subject => ({
  agents: one.agents + other.agents,
  peripherals: one.peripherals + other.peripherals,
  attachments: one.attachments + other.attachments,
})

/** Adds the simulations of single hosts. */
const sum = (all: readonly Simulated[]): Simulated | undefined =>
  all.reduce<Simulated | undefined>(
    (total, one) =>
      total === undefined ? one : { ...one, ...sumOf(total, one), blocked: sumOf(total.blocked, one.blocked) },
    undefined,
  )

const Sentence = ({ simulated }: { simulated: Simulated }) => (
  <p data-testid="gate-sentence">
    <strong>{blockedText(simulated.blocked)}</strong> {basisText(simulated)}
  </p>
)

export interface ArmGateProps {
  hosts: ArmHosts
  /** The preview of arming, for hosts that the simulator cannot list; null while loading. */
  prediction: Prediction | null
}

/**
 * Shows before arming which devices it blocks on these hosts. Attack tools come first, then the most
 * frequently attached devices.
 */
export const ArmGate = ({ hosts, prediction }: ArmGateProps) => {
  const { api } = useServices()
  const [days, setDays] = useState<string>(String(predictedDays))
  const queries = lookBacks(hosts)
  const test = useQuery({
    queryKey: ['policy-test', 'gate', queries, days],
    queryFn: ({ signal }) =>
      Promise.all(
        (queries ?? []).map((query) =>
          api.call(getPolicyTest, { query: { ...query, days: Number(days), decision: 'block', PageSize: 50 }, signal }),
        ),
      ),
    enabled: queries !== null,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  })
  if (queries === null) return prediction === null ? null : <Sentence simulated={prediction} />
  const totals = test.data === undefined ? undefined : sum(test.data.map((one) => one.prediction))
  const rows = (test.data ?? [])
    .flatMap(({ data }) => data)
    .toSorted(
      (one, other) =>
        Number(other.isKnownAttackTool) - Number(one.isKnownAttackTool) || other.attachments - one.attachments,
    )
  return (
    <Panel dense tone="raised" align="start" aria-label={strings.title}>
      <SegmentedControl
        size="xs"
        aria-label={strings.period}
        value={days}
        onChange={setDays}
        data={periods.map((value) => ({ value, label: strings.dayCount({ count: Number(value) }) }))}
      />
      <ErrorState query={test} inline />
      {totals === undefined ? (
        test.error === null ? (
          <Note>{strings.loading}</Note>
        ) : null
      ) : (
        <Stack gap={4} style={{ width: '100%' }} data-stale={test.isPlaceholderData || undefined}>
          <Sentence simulated={totals} />
          <Stack as="ul" gap={4} style={{ margin: '8px 0 4px' }}>
            {rows.slice(0, shown).map((row) => (
              <Columns
                as="li"
                key={`${row.uuid}|${row.deviceID}`}
                template="16px minmax(0, 1.2fr) minmax(0, 1fr) auto"
                gap={8}
              >
                <Icon name={kindIcon(row.devIcon)} size={14} />
                <Text breaks>
                  {row.isKnownAttackTool ? (
                    <>
                      <SeverityTag severity="red" word={strings.attackTool} />{' '}
                    </>
                  ) : null}
                  {strings.deviceOnHost({
                    device: (
                      <PlainLink key="device" href={deviceAddress(row.uuid, row.deviceID)}>
                        <DeviceText value={row.guiPid || `${row.vid}:${row.pid}`} />
                      </PlainLink>
                    ),
                    host: <DeviceText key="host" value={row.hostIdentifier} />,
                  })}
                </Text>
                <Text breaks>
                  <DeviceText value={row.reason} />
                </Text>
                <Quiet num>{strings.times({ count: row.attachments })}</Quiet>
              </Columns>
            ))}
          </Stack>
          {totals.blocked.peripherals > shown ? (
            <Note>{strings.andMore({ count: totals.blocked.peripherals - shown })}</Note>
          ) : null}
        </Stack>
      )}
    </Panel>
  )
}
