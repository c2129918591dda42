import { Checkbox, PasswordInput, Switch, TextInput } from '@mantine/core'
import { CertificatesField } from '@portcullis/platform/console/ui/form/CertificatesField.tsx'
import { Panel } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { ChannelTest } from './ChannelTest.tsx'
import { type Draft, hasSecret, sendsEvents } from './draft.ts'
import type { SectionProps } from './section.ts'
import { strings } from './strings.ts'

const at = (member: string) => `channels.webhook.${member}`

export const WebhookFields = ({ group, entry, canWrite }: SectionProps) => {
  const { draft, enter, errorOf } = entry
  const { webhook } = draft
  const isStored = hasSecret(group)
  const change = (part: Partial<Draft['webhook']>, ...members: string[]) =>
    enter({ webhook: { ...webhook, ...part } }, ...members.map(at))
  return (
    <Panel aria-label={strings.webhook}>
      <Switch
        name={at('isEnabled')}
        label={<strong>{strings.webhook}</strong>}
        description={sendsEvents(group) ? strings.webhookEventsHelp : strings.webhookHelp}
        error={errorOf(at('isEnabled'))}
        checked={webhook.isEnabled}
        onChange={(event) => change({ isEnabled: event.currentTarget.checked }, 'isEnabled', 'url')}
      />
      <TextInput
        name={at('url')}
        label={strings.url}
        description={strings.urlHelp}
        error={errorOf(at('url'))}
        maxLength={2_048}
        autoComplete="off"
        spellCheck={false}
        placeholder="https://soar.example.org/hooks/portcullis"
        value={webhook.url}
        onChange={(event) => change({ url: event.currentTarget.value }, 'url', 'secret')}
      />
      {canWrite ? (
        <>
          <PasswordInput
            name={at('secret')}
            label={strings.secret}
            description={strings.secretFieldHelp}
            error={errorOf(at('secret'))}
            maxLength={128}
            autoComplete="new-password"
            disabled={webhook.isSecretNew}
            placeholder={webhook.isSecretNew || !isStored ? strings.secretGenerated : strings.secretKeep}
            value={webhook.secret}
            onChange={(event) => change({ secret: event.currentTarget.value }, 'secret')}
          />
          {isStored ? (
            <Checkbox
              label={strings.renewSecret}
              checked={webhook.isSecretNew}
              onChange={(event) => change({ isSecretNew: event.currentTarget.checked, secret: '' }, 'secret')}
            />
          ) : null}
        </>
      ) : null}
      <CertificatesField
        name={at('ca')}
        label={strings.certificates}
        description={strings.certificatesHelp}
        error={errorOf(at('ca'))}
        max={65_536}
        value={webhook.ca}
        onChange={(ca) => change({ ca }, 'ca')}
      />
      {canWrite ? <ChannelTest channel="webhook" entry={entry} /> : null}
    </Panel>
  )
}
