import { Button } from '@mantine/core'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Quiet, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import type { Acceptance, MissingEvidence, Peripheral } from '#features/contract.ts'
import { Advisories } from './Advisories.tsx'
import { askAcceptance, askRevocation } from './acceptance.ts'
import { strings } from './strings.ts'
import { decidingRule, verdictOf } from './verdict.ts'

export interface WhyProps {
  device: Peripheral
}

// How to change a decision, by its source.
const hints: Readonly<Record<string, string>> = messages({
  'attack-tool': 'To allow it, an Administrator must approve it despite the attack-tool finding.',
  default: 'To allow it, approve it, or add a rule or grant.',
  hub: 'Hubs are always allowed. Devices behind a hub are checked.',
})

const hintOf = ({ rule, attackTool }: Peripheral): string | undefined =>
  rule === 'attack-tool' && attackTool === 'suspected' ? strings.suspectedToolHint : hints[rule]

const Decision = ({ device }: WhyProps) => {
  const { severity, word } = verdictOf(device)
  const rule = decidingRule(device)
  const change = rule === null ? hintOf(device) : undefined
  return (
    <section>
      <h3>
        <SeverityTag severity={severity} word={word} />
      </h3>
      <p>
        <DeviceText value={device.decisionReason} />.{' '}
        {rule === null ? null : (
          <PlainLink href={`/policy?open=${encodeURIComponent(rule)}`}>{strings.openRule}</PlainLink>
        )}
        {change === undefined ? null : <Quiet>{change}</Quiet>}
      </p>
      <Note>
        {device.policyVersion === 0
          ? `${strings.noPolicy}.`
          : (device.enforcedVersion === null ? strings.decidedBy : strings.hostDecidedBy)({
              version: device.policyVersion,
            })}{' '}
        {device.caseNumber === ''
          ? null
          : strings.caseNumber({ number: <code key="number">{device.caseNumber}</code> })}
      </Note>
    </section>
  )
}

const evidenceNames: Readonly<Record<MissingEvidence, string>> = messages({
  descriptors: 'descriptors',
  'report-descriptors': 'HID report descriptors',
  strings: 'some strings',
  speed: 'speed',
  port: 'type of port',
})

const Evidence = ({ lines }: { lines: readonly string[] }) => (
  <ul>
    {lines.map((line) => (
      <li key={line}>
        <DeviceText value={line} />
      </li>
    ))}
  </ul>
)

const Accepted = ({ device, acceptance }: { device: Peripheral; acceptance: Acceptance }) => {
  const { api, session } = useServices()
  return (
    <Note>
      {strings.acceptedBy({
        name: <DeviceText key="name" value={acceptance.acceptedBy} />,
        time: <Time key="time" value={acceptance.acceptedAt} />,
      })}{' '}
      {session.may('fleet:write') ? (
        <Button size="compact-xs" variant="default" onClick={() => askRevocation(api, device, acceptance.id)}>
          {strings.askRevocation}
        </Button>
      ) : null}
    </Note>
  )
}

/** Shows what the kernel of the host says about a device that is no attack. */
const KernelFindings = ({ device }: WhyProps) => (
  <>
    {device.unknownDriver === '' ? null : (
      <section>
        <h3>
          <SeverityTag severity="amber" word={strings.unknownDriver} />
        </h3>
        <p>
          <DeviceText value={device.unknownDriver} />. <Quiet>{strings.unknownDriverHint}</Quiet>
        </p>
      </section>
    )}
    {device.notWorking === '' ? null : (
      <section>
        <h3>
          <SeverityTag severity="amber" word={strings.doesNotWork} />
        </h3>
        <p>
          <DeviceText value={device.notWorking} />
        </p>
      </section>
    )}
  </>
)

/** Shows the findings of a device and the decision of the policy, with evidence. */
export const Why = ({ device }: WhyProps) => {
  const { api, session } = useServices()
  return (
    <Stack small breaks>
      {device.attackTool === '' ? null : (
        <section>
          <h3>
            <SeverityTag
              severity={device.attackTool === 'confirmed' ? 'violet' : 'red'}
              word={device.attackTool === 'confirmed' ? strings.confirmedAttackTool : strings.suspectedAttackTool}
            />
          </h3>
          <Evidence lines={device.evidence} />
          <Note>{device.attackTool === 'confirmed' ? strings.confirmedHint : strings.suspectedHint}</Note>
          {device.attackTool === 'suspected' && session.may('fleet:write') ? (
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => void askAcceptance(api, device).catch(tellFailure)}
            >
              {strings.askAcceptance}
            </Button>
          ) : null}
        </section>
      )}
      {device.attackTool !== '' || device.evidence.length === 0 ? null : (
        <section>
          <h3>
            <SeverityTag
              severity="amber"
              word={device.acceptance === null ? strings.warning : strings.acceptedFinding}
            />
          </h3>
          <Evidence lines={device.evidence} />
          {device.acceptance === null ? null : <Accepted device={device} acceptance={device.acceptance} />}
        </section>
      )}
      {device.driverMismatch === '' ? null : (
        <section>
          <h3>
            <SeverityTag severity="red" word={strings.driverMismatch} />
          </h3>
          <p>
            <DeviceText value={device.driverMismatch} />. <Quiet>{strings.driverMismatchHint}</Quiet>
          </p>
        </section>
      )}
      <KernelFindings device={device} />
      {device.vulnerabilities.length === 0 ? null : (
        <section>
          <h3>
            <SeverityTag severity="amber" word={strings.vulnerable} />
          </h3>
          <Advisories findings={device.vulnerabilities} />
        </section>
      )}
      <Decision device={device} />
      {device.missingEvidence.length === 0 ? null : (
        <Note>
          {strings.notExamined({ evidence: device.missingEvidence.map((one) => evidenceNames[one]).join(', ') })}
        </Note>
      )}
    </Stack>
  )
}
