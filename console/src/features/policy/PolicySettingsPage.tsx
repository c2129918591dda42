import { Button, Group, NumberInput, Stack, Switch, TextInput } from '@mantine/core'
import { getPolicy, type PolicySettings, updatePolicySettings } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { fieldMessage, isStoredRequest } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { tellWithUndo } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'

// What the switch sets when it is turned on: an office may be freed alone, a site not.
const usualHosts = 100

interface FormProps {
  settings: PolicySettings
  twoPerson: { active: boolean; explanation: string }
  canWrite: boolean
  onSaved: () => void
}

const Form = ({ settings, twoPerson, canWrite, onSaved }: FormProps) => {
  const { api } = useServices()
  const [draft, setDraft] = useState(settings)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const isStored = isStoredRequest(failure)
  const change = (part: Partial<PolicySettings>) => {
    setDraft((old) => ({ ...old, ...part }))
    // Other settings are another request.
    if (isStored) setFailure(null)
  }
  const save = async () => {
    setBusy(true)
    setFailure(null)
    try {
      await api.call(updatePolicySettings, { body: draft })
      onSaved()
      tellWithUndo('Settings saved.', async () => {
        await api.call(updatePolicySettings, { body: settings })
        setDraft(settings)
        onSaved()
      })
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  const hours = (name: 'grantMaxHours' | 'commandHours', label: string, description: string) => (
    <NumberInput
      label={label}
      description={description}
      suffix=" hours"
      min={1}
      max={8_760}
      allowDecimal={false}
      clampBehavior="strict"
      value={draft[name]}
      error={fieldMessage(failure, name)}
      onChange={(value) => change({ [name]: Number(value) })}
    />
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isStored) void save()
      }}
    >
      <fieldset disabled={!canWrite} style={{ margin: 0, padding: 0, border: 0, maxWidth: 520 }}>
        <Stack gap="md">
          <div>
            <Switch
              label="Require a second approver for many hosts"
              checked={draft.twoPersonHosts !== null}
              onChange={(event) => change({ twoPersonHosts: event.currentTarget.checked ? usualHosts : null })}
            />
            <p style={{ margin: '6px 0 0', color: 'var(--pc-muted)' }} data-testid="two-person">
              Now: {twoPerson.explanation}
            </p>
          </div>
          {draft.twoPersonHosts === null ? null : (
            <NumberInput
              label="Freeing, deleting or opening more than"
              suffix=" hosts"
              min={1}
              max={1_000_000}
              allowDecimal={false}
              clampBehavior="strict"
              value={draft.twoPersonHosts}
              error={fieldMessage(failure, 'twoPersonHosts')}
              onChange={(value) => change({ twoPersonHosts: Number(value) })}
            />
          )}
          {hours('grantMaxHours', 'A grant lasts at most', 'Whoever needs longer writes a rule.')}
          {hours('commandHours', 'A command waits for its host', 'After this it expires, and says so.')}
          <TextInput
            label="Whom to ask about a blocked device"
            description="Shown to the user of a host, with the case number: a name, a telephone number, an address."
            maxLength={200}
            value={draft.contact}
            error={fieldMessage(failure, 'contact')}
            onChange={(event) => change({ contact: event.currentTarget.value })}
          />
          {failure === null ? null : <ErrorState failure={failure} inline />}
          {canWrite ? (
            <Group justify="flex-end" gap="sm">
              <MoreMenu
                label="More"
                curl={() => curlOf(window.location.origin, updatePolicySettings, { body: draft })}
              />
              {isStored ? null : (
                <Button type="submit" loading={busy}>
                  Save
                </Button>
              )}
            </Group>
          ) : (
            <p style={{ margin: 0, color: 'var(--pc-muted)' }}>An Administrator can change these.</p>
          )}
        </Stack>
      </fieldset>
    </form>
  )
}

/** Settings of the policy: two people, lives of grants and commands, whom users should ask. */
export const PolicySettingsPage = () => {
  useTitle('Settings of the policy')
  const { api, session, queries } = useServices()
  const policy = useQuery({ queryKey: ['policy'], queryFn: ({ signal }) => api.call(getPolicy, { signal }) })
  return (
    <SettingsPage title="Settings of the policy">
      {policy.data === undefined ? (
        policy.error === null ? (
          <DetailSkeleton />
        ) : (
          <ErrorState failure={policy.error} retry={() => void policy.refetch()} />
        )
      ) : (
        <Form
          settings={policy.data.settings}
          twoPerson={policy.data.twoPerson}
          canWrite={session.may('config:write')}
          onSaved={() => void queries.invalidateQueries({ queryKey: ['policy'] })}
        />
      )}
    </SettingsPage>
  )
}
