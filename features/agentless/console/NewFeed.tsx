import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type FormEvent, useState } from 'react'
import { createApiToken, createFeed, type Feed, updateFeed } from '#features/contract.ts'
import { strings } from './strings.ts'

interface Made {
  address: string
  token: string
}

export interface NewFeedProps {
  /** The feed that gets a new token; absent: a new feed. */
  feed?: Feed | undefined
  close: () => void
  onCreated: () => void
}

/** The time zones of the browser, after the choice of an unknown one. */
const zones = [{ value: '', label: strings.feedNoZone }, ...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])]

/** Creates a feed with its API token, or a new token of a feed, and shows the token once. */
export const NewFeed = ({ feed: known, close, onCreated }: NewFeedProps) => {
  const { api } = useServices()
  const [name, setName] = useState(known?.name ?? '')
  const [timeZone, setTimeZone] = useState('')
  const [made, setMade] = useState<Made | null>(null)
  const { busy, failure, run } = useChange({ closes: false })
  const make = async (event: FormEvent) => {
    event.preventDefault()
    await run(async () => {
      const token = await api.call(createApiToken, {
        body: { name: `${strings.feed} ${name.trim()}`, userProfile: 20, scopes: ['feeds:write'] },
      })
      if (known !== undefined) await api.call(updateFeed, { params: { id: known.id }, body: { tokenId: token.id } })
      const { id } = known ?? (await api.call(createFeed, { body: { name: name.trim(), tokenId: token.id, timeZone } }))
      setMade({ address: `${location.origin}/prime/webui/ingest/feeds/${id}`, token: token.token })
      onCreated()
    })
  }
  if (made !== null)
    return (
      <Stack>
        <Text as="p">{strings.feedMade}</Text>
        <CopyField value={made.address} what={strings.address} />
        <CopyField value={made.token} what={strings.token} />
        <Row gap={16} justify="end" wrap>
          <Button onClick={close}>{strings.done}</Button>
        </Row>
      </Stack>
    )
  return (
    <form onSubmit={(event) => void make(event)}>
      <Stack>
        <Text as="p">{known === undefined ? strings.newFeedText : strings.replaceTokenText({ name: known.name })}</Text>
        {known !== undefined ? null : (
          <>
            <TextInput
              label={strings.name}
              value={name}
              maxLength={100}
              required
              data-autofocus
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <NativeSelect
              label={strings.timeZone}
              description={strings.feedZoneHelp}
              data={zones}
              value={timeZone}
              onChange={(event) => setTimeZone(event.currentTarget.value)}
            />
          </>
        )}
        <ErrorState failure={failure} inline />
        <DialogActions
          close={close}
          action={known === undefined ? strings.createFeed : strings.replaceToken}
          busy={busy}
          isReady={name.trim() !== ''}
          startsAt="form"
        />
      </Stack>
    </form>
  )
}
