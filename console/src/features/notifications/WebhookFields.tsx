import { Checkbox, PasswordInput, Switch, TextInput } from '@mantine/core'
import { CertificatesField } from '../../ui/form/CertificatesField.tsx'
import { ChannelTest } from './ChannelTest.tsx'
import { type Draft, hasSecret, sendsEvents } from './draft.ts'
import classes from './notifications.module.css'
import type { SectionProps } from './section.ts'

const at = (member: string) => `channels.webhook.${member}`

export const WebhookFields = ({ group, entry, canWrite }: SectionProps) => {
  const { draft, enter, errorOf } = entry
  const { webhook } = draft
  const isStored = hasSecret(group)
  const change = (part: Partial<Draft['webhook']>, ...members: string[]) =>
    enter({ webhook: { ...webhook, ...part } }, ...members.map(at))
  return (
    <section className={classes.section} aria-label="Webhook">
      <Switch
        name={at('isEnabled')}
        label={<strong>Webhook</strong>}
        description={
          sendsEvents(group)
            ? 'Batches of events as JSON, signed, in order.'
            : 'A signed message as JSON for each matter, or one for all that was gathered.'
        }
        error={errorOf(at('isEnabled'))}
        checked={webhook.isEnabled}
        onChange={(event) => change({ isEnabled: event.currentTarget.checked }, 'isEnabled', 'url')}
      />
      <TextInput
        name={at('url')}
        label="URL"
        description="After saving, only the host is shown. If you change the host or the certificates, enter the full URL again."
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
            label="Secret"
            description="whsec_ and base64 of 24 to 64 bytes, or nothing: then the server makes one and shows it once, after saving."
            error={errorOf(at('secret'))}
            maxLength={128}
            autoComplete="new-password"
            disabled={webhook.isSecretNew}
            placeholder={
              webhook.isSecretNew ? 'a new one is made' : isStored ? 'set; leave empty to keep it' : 'made when saved'
            }
            value={webhook.secret}
            onChange={(event) => change({ secret: event.currentTarget.value }, 'secret')}
          />
          {isStored ? (
            <Checkbox
              label="Make a new secret, and show it once; the receiver needs it to go on"
              checked={webhook.isSecretNew}
              onChange={(event) => change({ isSecretNew: event.currentTarget.checked, secret: '' }, 'secret')}
            />
          ) : null}
        </>
      ) : null}
      <CertificatesField
        name={at('ca')}
        label="Certificates to trust"
        description="PEM; empty: those of the system."
        error={errorOf(at('ca'))}
        max={65_536}
        value={webhook.ca}
        onChange={(ca) => change({ ca }, 'ca')}
      />
      {canWrite ? <ChannelTest channel="webhook" entry={entry} /> : null}
    </section>
  )
}
