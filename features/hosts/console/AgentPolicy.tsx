import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Columns, Note, Quiet, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Link } from '@tanstack/react-router'
import type { AgentDetail } from '#features/contract.ts'
import { strings } from './strings.ts'

const levelLabels = {
  grant: strings.grant,
  host: strings.thisHost,
  tag: strings.ruleTag,
  global: strings.allHosts,
} as const

/** Shows the policy of a host: mode, version, and its rules by precedence. */
export const AgentPolicy = ({ agent }: { agent: AgentDetail }) => {
  const { policy, uuid, hostIdentifier } = agent
  const isBehind = policy.mode === 'Armed' && policy.heldVersion !== policy.version
  return (
    <Stack gap={8}>
      <p>{policy.summary}</p>
      {policy.reason === '' ? null : (
        <p>
          <SeverityTag severity="amber" word={strings.revertedToFree} /> {policy.reason}
        </p>
      )}
      <Note>
        {policy.heldVersion === 0
          ? strings.noPolicy
          : isBehind
            ? strings.policyVersionBehind({ version: policy.heldVersion, next: policy.version })
            : strings.policyVersion({ version: policy.heldVersion })}
      </Note>
      <h3>{strings.hostRules}</h3>
      {policy.rules.length === 0 ? (
        <Note>
          {policy.mode === 'Armed'
            ? strings.noRulesArmed
            : agent.canBlock
              ? strings.noRulesFree
              : strings.noRulesUnable}
        </Note>
      ) : (
        <Stack as="ol" gap={4} small>
          {policy.rules.map((rule) => (
            <Columns as="li" key={rule.id} template="16px minmax(0, 1fr) auto" gap={8} breaks>
              <Text tone={rule.effect === 'deny' ? 'red' : undefined}>
                <Icon name={rule.effect === 'deny' ? 'close' : 'check'} size={14} />
              </Text>
              <PlainLink href={`/policy?open=${encodeURIComponent(rule.id)}`}>
                <DeviceText value={rule.sentence} />
              </PlainLink>
              <Quiet>{rule.effect === 'deny' ? strings.deny : levelLabels[rule.level]}</Quiet>
            </Columns>
          ))}
        </Stack>
      )}
      <p>
        <Link to="/policy" search={{ open: 'new', onHost: uuid }}>
          {strings.addRuleFor({ host: <DeviceText key="host" value={hostIdentifier} /> })}
        </Link>
        {' · '}
        <Link to="/policy/simulator" search={{ hostUuid: uuid }}>
          {strings.simulateHost}
        </Link>
      </p>
    </Stack>
  )
}
