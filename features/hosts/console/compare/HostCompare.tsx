import { modelAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Note, Skeleton, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type AgentDetail, getAgent, type Peripheral } from '#features/contract.ts'
import { DeviceName } from '#features/devices/console/shared/Device.tsx'
import { findingOf } from '#features/devices/console/shared/findings.ts'
import { verdictOf } from '#features/devices/console/shared/verdict.ts'
import { HostPicker } from '#features/policy/console/shared/HostPicker.tsx'
import { compareDevices, compareRules, type Side } from './compare.ts'
import { strings } from './strings.ts'

interface PairProps {
  here: AgentDetail
  there: AgentDetail
}

const findingText = (severity: number): string => findingOf(severity)?.word ?? '–'

const factsOf = (host: AgentDetail): [string, string][] => [
  [strings.mode, host.policy.mode],
  [strings.canBlock, host.canBlock ? strings.yes : strings.no],
  [strings.policyVersion, host.policy.heldVersion === 0 ? '–' : String(host.policy.heldVersion)],
  [strings.finding, findingText(host.severity)],
  [strings.risk, String(host.riskScore)],
  [strings.agentVersion, host.serviceVersion],
  [strings.system, host.facts.osName],
  [strings.kernel, host.facts.kernel],
  [strings.computer, [host.facts.vendor, host.facts.model].filter(Boolean).join(' ')],
  [strings.owner, host.owner],
  [strings.tags, host.hashtags.split(',').toSorted().join(', ')],
]

const Properties = ({ here, there }: PairProps) => {
  const theirs = new Map(factsOf(there))
  return (
    <SmallTable
      label={strings.compared}
      head={[strings.property, here.hostIdentifier, there.hostIdentifier, strings.difference]}
      rows={factsOf(here).map(([name, value]) => {
        const other = theirs.get(name) ?? ''
        return {
          key: name,
          quiet: value === other,
          cells: [
            name,
            <DeviceText key="here" value={value} absent="–" />,
            <DeviceText key="there" value={other} absent="–" />,
            value === other ? strings.same : strings.differs,
          ],
        }
      })}
      empty=""
    />
  )
}

/** The attached devices of one model on one host: how many, and what the policy does with them. */
const Devices = ({ devices }: { devices: readonly Peripheral[] }) => {
  const groups = Map.groupBy(devices, (device) => verdictOf(device).word)
  if (devices.length === 0) return <span>–</span>
  return (
    <Text>{[...groups].map(([word, some]) => `${some.length > 1 ? `${some.length} × ` : ''}${word}`).join(', ')}</Text>
  )
}

const DevicesOfBoth = ({ here, there }: PairProps) => {
  const text: Record<Side, string> = {
    here: strings.here({ host: here.hostIdentifier }),
    there: strings.here({ host: there.hostIdentifier }),
    different: strings.different,
    same: strings.same,
  }
  return (
    <SmallTable
      label={strings.comparedDevices}
      head={[strings.device, here.hostIdentifier, there.hostIdentifier, strings.finding, strings.difference]}
      rows={compareDevices(here.peripherals, there.peripherals).map((one) => {
        const device = [...one.here, ...one.there][0]!
        const finding = findingOf(Math.max(...[...one.here, ...one.there].map(({ severity }) => severity)))
        return {
          key: one.model,
          quiet: one.side === 'same',
          cells: [
            <PlainLink key="device" href={modelAddress(device)}>
              <DeviceName device={device} />
            </PlainLink>,
            <Devices key="here" devices={one.here} />,
            <Devices key="there" devices={one.there} />,
            finding === null ? '–' : <SeverityTag key="finding" severity={finding.severity} word={finding.word} />,
            text[one.side],
          ],
        }
      })}
      empty={strings.noDevices}
    />
  )
}

const RulesOfOne = ({ here, there }: PairProps) => (
  <SmallTable
    label={strings.rulesOfOne}
    head={[strings.rule, strings.appliesTo]}
    rows={compareRules(here.policy.rules, there.policy.rules).map(({ rule, side }) => ({
      key: rule.id,
      cells: [
        <PlainLink key="rule" href={`/policy?open=${encodeURIComponent(rule.id)}`}>
          <DeviceText value={rule.sentence} />
        </PlainLink>,
        <DeviceText key="host" value={(side === 'here' ? here : there).hostIdentifier} />,
      ],
    }))}
    empty={strings.sameRules}
  />
)

/** Compares a host with another one. The address contains the other host. */
export const HostCompare = ({ agent }: { agent: AgentDetail }) => {
  const { with: other = '' }: { with?: string } = useSearch({ strict: false })
  const navigate = useNavigate()
  const isOther = other !== '' && other !== agent.uuid
  const read = useRead(['agent', other], getAgent, { params: { agentId: other }, enabled: isOther })
  const choose = (uuid: string): void =>
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, with: uuid === '' ? undefined : uuid }) as never,
      replace: true,
    })
  const isMissing = read.error instanceof CallFailure && read.error.code === 'not_found'
  const problem = other === agent.uuid ? strings.sameHost : isMissing ? strings.otherNotFound : undefined
  return (
    <Stack gap={16}>
      <div style={{ maxWidth: 320 }}>
        <HostPicker label={strings.otherHost} value={other} onChange={choose} error={problem} clearable />
      </div>
      {!isOther ? (
        <Note>{strings.chooseHost}</Note>
      ) : read.data === undefined ? (
        read.error === null ? (
          <Skeleton height={190} />
        ) : isMissing ? null : (
          <ErrorState query={read} inline />
        )
      ) : (
        <>
          <Stack as="section" gap={6}>
            <h3>{strings.comparedDevices}</h3>
            <DevicesOfBoth here={agent} there={read.data} />
          </Stack>
          <Stack as="section" gap={6}>
            <h3>{strings.compared}</h3>
            <Properties here={agent} there={read.data} />
          </Stack>
          <Stack as="section" gap={6}>
            <h3>{strings.rulesOfOne}</h3>
            <RulesOfOne here={agent} there={read.data} />
          </Stack>
        </>
      )}
    </Stack>
  )
}
