import { Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Panel, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import {
  createApiToken,
  defaultScopesOf,
  type Permission,
  permissionsOf,
  permissionTexts,
  profileNames,
  type UserProfile,
} from '#features/contract.ts'
import { strings } from './strings.ts'

const lives: readonly { value: string; label: string }[] = [
  { value: '7', label: strings.days7 },
  { value: '30', label: strings.days30 },
  { value: '90', label: strings.days90 },
  { value: '365', label: strings.year1 },
]

const scopesOf = (profile: string): Permission[] => permissionsOf(Number(profile) as UserProfile)
const readingOf = (profile: string): Permission[] => defaultScopesOf(Number(profile) as UserProfile)

/** Creates a token and shows it once. */
export const NewToken = ({ close, onMade }: { close: () => void; onMade: () => void }) => {
  const { api, clock } = useServices()
  const state = useSession()
  const own = state.phase === 'in' ? state.profile.account.userProfile : 30
  const [made, setMade] = useState<string | null>(null)
  const { busy, failure, run } = useChange()
  const form = useForm({
    initialValues: { name: '', days: '90', profile: '30', scopes: readingOf('30') as string[] },
    validate: {
      name: (value) => (value.trim() === '' ? strings.purposeMissing : null),
      scopes: (value) => (value.length === 0 ? strings.scopesMissing : null),
    },
  })
  if (made !== null) {
    return (
      <Stack>
        <p style={{ margin: 0 }}>{strings.tokenShownOnce}</p>
        <CopyField value={made} what={strings.token} />
        <Row gap={16} justify="end" wrap>
          <Button onClick={close}>{strings.done}</Button>
        </Row>
      </Stack>
    )
  }
  return (
    <form
      onSubmit={form.onSubmit(({ name, days, profile, scopes }) =>
        run(async () => {
          const answer = await api.call(createApiToken, {
            body: {
              name: name.trim(),
              // The server accepts at most one year. The minute allows for clocks that differ.
              expiresAt: new Date(clock.now() + Number(days) * 86_400_000 - 60_000).toISOString(),
              userProfile: Number(profile) as UserProfile,
              scopes: scopes as Permission[],
            },
          })
          onMade()
          setMade(answer.token)
        }),
      )}
    >
      <Stack>
        <TextInput
          label={strings.purpose}
          placeholder={strings.purposeExample}
          maxLength={120}
          data-autofocus
          {...form.getInputProps('name')}
          error={form.errors.name ?? fieldMessage(failure, 'name')}
        />
        <Row gap={16} equal align="start" wrap>
          <NativeSelect
            label={strings.highestProfile}
            data={([30, 20, 10] as const)
              .filter((profile) => profile >= own)
              .map((profile) => ({ value: String(profile), label: profileNames[profile] }))}
            {...form.getInputProps('profile')}
            onChange={(event) => {
              const profile = event.currentTarget.value
              form.setValues({ profile, scopes: readingOf(profile) })
            }}
          />
          <NativeSelect label={strings.expiresAfter} data={[...lives]} {...form.getInputProps('days')} />
        </Row>
        <Checkbox.Group
          label={strings.scopes}
          description={strings.scopesHelp}
          {...form.getInputProps('scopes')}
          error={form.errors.scopes ?? fieldMessage(failure, 'scopes')}
        >
          <Panel as="div" dense scroll top={8} style={{ maxHeight: 260 }}>
            {scopesOf(form.values.profile).map((scope) => (
              <Checkbox key={scope} value={scope} label={<code>{scope}</code>} description={permissionTexts[scope]} />
            ))}
          </Panel>
        </Checkbox.Group>
        <ErrorState failure={failure} inline />
        <DialogActions close={close} action={strings.createToken} busy={busy} startsAt="form" />
      </Stack>
    </form>
  )
}
