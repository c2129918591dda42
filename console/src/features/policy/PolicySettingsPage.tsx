import { Button, Group, NumberInput, Stack, Switch, TextInput } from '@mantine/core'
import { getPolicy, type PolicySettings, updatePolicySettings } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { fieldMessage, isStoredRequest } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { bindText } from '../../ui/form/bind-text.ts'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { tellWithUndo } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { strings } from './strings.ts'

// Default threshold when the switch is turned on.
const usualHosts = 100

interface FormProps {
  settings: PolicySettings
  twoPerson: { active: boolean; explanation: string }
  canWrite: boolean
  onSaved: () => void
}

/** State of the form and its request. */
const useSettingsForm = (settings: PolicySettings, onSaved: () => void) => {
  const { api } = useServices()
  const [draft, setDraft] = useState(settings)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const isStored = isStoredRequest(failure)
  const change = (part: Partial<PolicySettings>) => {
    setDraft((old) => ({ ...old, ...part }))
    // Different settings need a new request.
    if (isStored) setFailure(null)
  }
  const save = async () => {
    setBusy(true)
    setFailure(null)
    try {
      await api.call(updatePolicySettings, { body: draft })
      onSaved()
      tellWithUndo(strings.settingsSaved, async () => {
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
  const errorOf = (name: keyof PolicySettings) => fieldMessage(failure, name)
  return { draft, change, save, busy, failure, isStored, errorOf }
}

interface CountFieldProps {
  form: ReturnType<typeof useSettingsForm>
  name: 'grantMaxHours' | 'commandHours' | 'twoPersonHosts'
  label: string
  description?: string
  suffix: string
  max: number
}

const CountField = ({ form, name, ...rest }: CountFieldProps) => (
  <NumberInput
    min={1}
    allowDecimal={false}
    clampBehavior="strict"
    value={form.draft[name] ?? ''}
    error={form.errorOf(name)}
    onChange={(value) => form.change({ [name]: Number(value) })}
    {...rest}
  />
)

const mostHours = 8_760

const Form = ({ settings, twoPerson, canWrite, onSaved }: FormProps) => {
  const form = useSettingsForm(settings, onSaved)
  const { draft, change, save, busy, failure, isStored, errorOf } = form
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
              label={strings.requireApprover}
              checked={draft.twoPersonHosts !== null}
              onChange={(event) => change({ twoPersonHosts: event.currentTarget.checked ? usualHosts : null })}
            />
            <p style={{ margin: '6px 0 0', color: 'var(--pc-muted)' }} data-testid="two-person">
              {strings.approverState({ explanation: twoPerson.explanation })}
            </p>
          </div>
          {draft.twoPersonHosts === null ? null : (
            <CountField
              form={form}
              name="twoPersonHosts"
              label={strings.approverThreshold}
              suffix={` ${strings.hostsUnit}`}
              max={1_000_000}
            />
          )}
          <CountField
            form={form}
            name="grantMaxHours"
            label={strings.grantMax}
            description={strings.grantMaxHint}
            suffix={` ${strings.hoursUnit}`}
            max={mostHours}
          />
          <CountField
            form={form}
            name="commandHours"
            label={strings.commandLife}
            description={strings.commandLifeHint}
            suffix={` ${strings.hoursUnit}`}
            max={mostHours}
          />
          <TextInput
            label={strings.contact}
            description={strings.contactHint}
            maxLength={200}
            {...bindText(draft, change, errorOf)('contact')}
          />
          {failure === null ? null : <ErrorState failure={failure} resend={() => void save()} inline />}
          {canWrite ? (
            <Group justify="flex-end" gap="sm">
              <MoreMenu
                label={strings.more}
                curl={() => curlOf(window.location.origin, updatePolicySettings, { body: draft })}
              />
              {isStored ? null : (
                <Button type="submit" loading={busy}>
                  {strings.save}
                </Button>
              )}
            </Group>
          ) : (
            <p style={{ margin: 0, color: 'var(--pc-muted)' }}>{strings.settingsReadOnly}</p>
          )}
        </Stack>
      </fieldset>
    </form>
  )
}

/** Policy settings: second approver, durations of grants and commands, contact. */
export const PolicySettingsPage = () => {
  useTitle(strings.settingsTitle)
  const { api, session, queries } = useServices()
  const policy = useQuery({ queryKey: ['policy'], queryFn: ({ signal }) => api.call(getPolicy, { signal }) })
  return (
    <SettingsPage title={strings.settingsTitle}>
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
