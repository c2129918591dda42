import { Button, Group, Stack, TextInput } from '@mantine/core'
import { createApiToken, createFeed } from '@portcullis/contract'
import { type FormEvent, useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { CopyField } from '../../ui/CopyField.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { DialogActions } from '../../ui/form/DialogActions.tsx'
import classes from './agentless.module.css'
import { strings } from './strings.ts'

interface Made {
  address: string
  token: string
}

/** Creates a feed with its API token, and shows the token once. */
export const NewFeed = ({ close, onCreated }: { close: () => void; onCreated: () => void }) => {
  const { api } = useServices()
  const [name, setName] = useState('')
  const [made, setMade] = useState<Made | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const make = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFailure(null)
    try {
      const token = await api.call(createApiToken, {
        body: { name: `${strings.feed} ${name.trim()}`, userProfile: 20, scopes: ['feeds:write'] },
      })
      const feed = await api.call(createFeed, { body: { name: name.trim(), tokenId: token.id } })
      setMade({ address: `${location.origin}/prime/webui/ingest/feeds/${feed.id}`, token: token.token })
      onCreated()
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  if (made !== null)
    return (
      <Stack gap="md">
        <p className={classes.text}>{strings.feedMade}</p>
        <CopyField value={made.address} what={strings.address} />
        <CopyField value={made.token} what={strings.token} />
        <Group justify="flex-end">
          <Button onClick={close}>{strings.done}</Button>
        </Group>
      </Stack>
    )
  return (
    <form onSubmit={(event) => void make(event)}>
      <Stack gap="md">
        <p className={classes.text}>{strings.newFeedText}</p>
        <TextInput
          label={strings.feedName}
          value={name}
          maxLength={100}
          required
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {failure === null ? null : <ErrorState failure={failure} inline />}
        <DialogActions
          close={close}
          action={strings.createFeed}
          busy={busy}
          isReady={name.trim() !== ''}
          startsAt="form"
        />
      </Stack>
    </form>
  )
}
