import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import {
  type ApiTokenView,
  createApiToken,
  deleteApiToken,
  listApiTokens,
  profileNames,
  type UserProfile,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { fieldMessage } from '../../lib/problem.ts'
import { useServices, useSession } from '../../lib/services.tsx'
import { CopyField } from '../../ui/CopyField.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'

const lives: readonly { value: string; label: string }[] = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'no end' },
]

const NewToken = ({ close, onMade }: { close: () => void; onMade: () => void }) => {
  const { api, clock } = useServices()
  const state = useSession()
  const own = state.phase === 'in' ? state.profile.account.userProfile : 30
  const [made, setMade] = useState<string | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const form = useForm({
    initialValues: { name: '', days: '90', profile: '30' },
    validate: { name: (value) => (value.trim() === '' ? 'Say what the token is for.' : null) },
  })
  if (made !== null) {
    return (
      <Stack gap="md">
        <p style={{ margin: 0 }}>This is the only time the token is shown. Put it where it is needed now.</p>
        <CopyField value={made} what="Token" />
        <Group justify="flex-end">
          <Button onClick={close}>Done</Button>
        </Group>
      </Stack>
    )
  }
  return (
    <form
      onSubmit={form.onSubmit(async ({ name, days, profile }) => {
        setBusy(true)
        setFailure(null)
        try {
          const answer = await api.call(createApiToken, {
            body: {
              name: name.trim(),
              expiresAt: days === '' ? null : new Date(clock.now() + Number(days) * 86_400_000).toISOString(),
              userProfile: Number(profile) as UserProfile,
            },
          })
          onMade()
          setMade(answer.token)
        } catch (reason) {
          setFailure(reason)
          setBusy(false)
        }
      })}
    >
      <Stack gap="md">
        <TextInput
          label="What it is for"
          placeholder="SIEM export"
          maxLength={120}
          data-autofocus
          {...form.getInputProps('name')}
          error={form.errors.name ?? fieldMessage(failure, 'name')}
        />
        <NativeSelect
          label="What it may do at most"
          data={([30, 20, 10] as const)
            .filter((profile) => profile >= own)
            .map((profile) => ({ value: String(profile), label: profileNames[profile] }))}
          {...form.getInputProps('profile')}
        />
        <NativeSelect label="Ends after" data={[...lives]} {...form.getInputProps('days')} />
        {failure === null ? null : <ErrorState failure={failure} inline />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={busy}>
            Make the token
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Long-lived tokens for scripts and connectors. */
export const ApiTokensPage = () => {
  useTitle('API tokens')
  const { api } = useServices()
  const [making, setMaking] = useState(false)
  const tokens = useQuery({ queryKey: ['api-tokens'], queryFn: ({ signal }) => api.call(listApiTokens, { signal }) })
  const revoke = (token: ApiTokenView) =>
    confirm({
      title: 'Revoke a token',
      names: [token.name],
      kind: ['token', 'tokens'],
      consequence: 'whatever uses it is refused from now on.',
      action: 'Revoke',
      run: async () => {
        await api.call(deleteApiToken, { params: { id: token.id } })
        tell('Token revoked.')
        await tokens.refetch()
      },
    })
  return (
    <SettingsPage
      title="API tokens"
      intro="For scripts, SIEM and SOAR connectors: sent as a bearer token with each call. A token can never do more than its account."
      actions={
        <>
          <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={() => setMaking(true)}>
            New token
          </Button>
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, listApiTokens)} />
        </>
      }
    >
      {tokens.error === null ? null : <ErrorState failure={tokens.error} retry={() => void tokens.refetch()} inline />}
      <SmallTable
        label="API tokens"
        head={['Name', 'Account', 'At most', 'Made', 'Ends', 'Last used', { title: '', align: 'right' }]}
        rows={tokens.data?.map((token) => ({
          key: token.id,
          cells: [
            <DeviceText key="name" value={token.name} />,
            <DeviceText key="user" value={token.userName} />,
            profileNames[token.userProfile],
            <Time key="made" value={token.createdAt} />,
            <Time key="ends" value={token.expiresAt} absent="never" />,
            <Time key="used" value={token.lastUsedAt} absent="never" />,
            <Button key="revoke" size="compact-xs" variant="default" onClick={() => revoke(token)}>
              Revoke…
            </Button>,
          ],
        }))}
        empty="No token yet. Make one for the first script or connector."
      />
      <Modal opened={making} onClose={() => setMaking(false)} title="New API token">
        {making ? <NewToken close={() => setMaking(false)} onMade={() => void tokens.refetch()} /> : null}
      </Modal>
    </SettingsPage>
  )
}
