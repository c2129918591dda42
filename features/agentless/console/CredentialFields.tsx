import { Checkbox, NumberInput, PasswordInput, Textarea, TextInput } from '@mantine/core'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { pollInterval } from '#features/contract.ts'
import { type SecretName, secretNames } from './connection-draft.ts'
import { strings } from './strings.ts'

/** The credentials in a form. */
export interface CredentialDraft {
  userName: string
  password: string
  privateKey: string
  passphrase: string
  removed: SecretName[]
  intervalMinutes: number | string
}

export interface CredentialFieldsProps {
  draft: CredentialDraft
  /** Secrets that the server has. */
  stored: Readonly<Record<SecretName, boolean>>
  onChange: (change: Partial<CredentialDraft>) => void
  errorOf: (name: keyof CredentialDraft) => string | undefined
  /** Placeholders of blank fields: the values that apply. */
  placeholders: { userName: string; intervalMinutes: string }
}

/** User, secrets and interval. Stored secrets are never shown, only replaced or removed. */
export const CredentialFields = ({ draft, stored, onChange, errorOf, placeholders }: CredentialFieldsProps) => {
  const secret = (name: SecretName) => ({
    value: draft[name],
    placeholder: stored[name]
      ? draft.removed.includes(name)
        ? strings.secretRemoved
        : strings.secretStored
      : strings.none,
    error: errorOf(name),
    autoComplete: name === 'privateKey' ? 'off' : 'new-password',
    onChange: (event: { currentTarget: { value: string } }) => onChange({ [name]: event.currentTarget.value }),
  })
  return (
    <Stack gap={8}>
      <TextInput
        label={strings.user}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholders.userName}
        value={draft.userName}
        error={errorOf('userName')}
        onChange={(event) => onChange({ userName: event.currentTarget.value })}
      />
      <PasswordInput label={strings.password} maxLength={1_024} {...secret('password')} />
      <Textarea
        label={strings.privateKey}
        description={strings.opensshOrPem}
        rows={4}
        maxLength={65_536}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...secret('privateKey')}
      />
      <PasswordInput label={strings.passphrase} maxLength={1_024} {...secret('passphrase')} />
      {secretNames
        .filter((name) => stored[name] && draft[name] === '')
        .map((name) => (
          <Checkbox
            key={name}
            label={strings.removeSecret({ secret: name })}
            checked={draft.removed.includes(name)}
            onChange={(event) =>
              onChange({
                removed: event.currentTarget.checked
                  ? [...draft.removed, name]
                  : draft.removed.filter((other) => other !== name),
              })
            }
          />
        ))}
      <NumberInput
        label={strings.intervalMinutes}
        min={pollInterval.min}
        max={pollInterval.max}
        allowDecimal={false}
        placeholder={placeholders.intervalMinutes}
        value={draft.intervalMinutes}
        error={errorOf('intervalMinutes')}
        onChange={(intervalMinutes) => onChange({ intervalMinutes })}
      />
    </Stack>
  )
}
