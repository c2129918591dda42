import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Note, Notice, Skeleton, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { Link } from '@tanstack/react-router'
import { getDevicePassport, type ResponseOf } from '#features/contract.ts'
import { strings as shared } from '../shared/strings.ts'
import { Evidence } from './Evidence.tsx'
import { Journey } from './Journey.tsx'
import { strings } from './strings.ts'

type Decision = ResponseOf<typeof getDevicePassport>['decisions'][number]

const verdicts = { allow: strings.allowed, block: strings.notAllowedByPolicy }

const Reason = ({ decision: { reason, ruleID, ruleExists } }: { decision: Decision }) =>
  ruleID !== null && ruleExists ? (
    <Link to="/policy" search={{ open: ruleID }}>
      <DeviceText value={reason} />
    </Link>
  ) : (
    <DeviceText value={reason} />
  )

const Decisions = ({ decisions }: { decisions: readonly Decision[] }) => (
  <SmallTable
    label={strings.decisions}
    head={[
      strings.when,
      strings.hostName,
      strings.decision,
      strings.reason,
      strings.policyVersion,
      strings.knowledgeVersion,
    ]}
    rows={decisions.map((one) => ({
      key: `${one.at} ${one.uuid} ${one.deviceID}`,
      cells: [
        <Time key="at" value={one.at} form="local" />,
        <DeviceText key="host" value={one.hostIdentifier} />,
        verdicts[one.decision],
        <Reason key="reason" decision={one} />,
        one.policyVersion === 0 ? (
          shared.noPolicy
        ) : (
          <Link key="policy" to="/policy/history" search={{ version: String(one.policyVersion) }}>
            {strings.version({ version: one.policyVersion })}
          </Link>
        ),
        <DeviceText key="knowledge" value={one.knowledgeVersion} />,
      ],
    }))}
    empty={strings.noDecisions}
  />
)

/** Where a device was, each decision about it, and what its serial number proves. */
export const Passport = ({ uuid, deviceId }: { uuid: string; deviceId: string }) => {
  const now = useServices().clock.now()
  const passport = useRead(['passport', uuid, deviceId], getDevicePassport, {
    params: { uuid },
    query: { deviceID: deviceId },
  })
  useLive('peripherals', ({ changed }) => {
    const hosts = passport.data?.hosts ?? []
    if (changed === null || hosts.some((one) => changed.includes(one.uuid))) void passport.refetch()
  })
  const { data } = passport
  return (
    <Stack as="section" gap={8} aria-busy={passport.isPending}>
      <h3>{strings.title}</h3>
      {passport.error !== null ? <ErrorState query={passport} inline /> : null}
      {data === undefined ? (
        passport.error === null ? (
          <Skeleton height={90} />
        ) : null
      ) : (
        <Stack gap={12}>
          {data.warnings.map(({ kind, text, consequence }) => (
            <Notice key={kind} as="div" tone="amber">
              <Stack gap={2}>
                <strong>
                  <DeviceText value={text} />
                </strong>
                <Text>{consequence}</Text>
              </Stack>
            </Notice>
          ))}
          {data.isOneDevice ? null : <Note>{strings.oneHost}</Note>}
          <Journey hosts={data.hosts} stays={data.stays} now={now} />
          <Stack gap={6}>
            <h4>{strings.decisions}</h4>
            <Decisions decisions={data.decisions} />
          </Stack>
          <Stack gap={6}>
            <h4>{strings.evidence}</h4>
            <Evidence descriptors={data.descriptors} logs={data.logs} />
          </Stack>
          {data.isComplete ? null : <Note>{strings.incomplete}</Note>}
        </Stack>
      )}
    </Stack>
  )
}
