import { Button, Textarea, TextInput } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import { type AgentDetail, updateHostOwner } from '#features/contract.ts'
import { strings } from './strings.ts'

interface HostOwnerProps {
  agent: AgentDetail
  reread: () => void
}

const OwnerForm = ({ agent, reread, close }: HostOwnerProps & { close: () => void }) => {
  const { api } = useServices()
  const [owner, setOwner] = useState(agent.owner)
  const [notes, setNotes] = useState(agent.notes)
  const { busy, failure, run } = useChange()
  // Only what the person changed, so that nobody overwrites the other field.
  const changes = { ...(owner === agent.owner ? {} : { owner }), ...(notes === agent.notes ? {} : { notes }) }
  const hasChanged = Object.keys(changes).length > 0
  const save = () =>
    run(async () => {
      if (hasChanged) await api.call(updateHostOwner, { params: { agentId: agent.uuid }, body: changes })
      reread()
      close()
    })
  return (
    <Stack
      as="form"
      gap={8}
      max={480}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <TextInput
        label={strings.owner}
        description={strings.ownerHint}
        maxLength={200}
        value={owner}
        onChange={({ currentTarget }) => setOwner(currentTarget.value)}
        data-autofocus
      />
      <Textarea
        label={strings.notes}
        maxLength={4_000}
        autosize
        minRows={3}
        value={notes}
        onChange={({ currentTarget }) => setNotes(currentTarget.value)}
      />
      <ErrorState failure={failure} inline />
      <Row gap={8}>
        <Button type="submit" size="compact-sm" loading={busy}>
          {strings.save}
        </Button>
        <Button size="compact-sm" variant="default" onClick={close}>
          {strings.cancel}
        </Button>
      </Row>
    </Stack>
  )
}

/** The owner of a host and the notes about it, which people edit. */
export const HostOwner = ({ agent, reread }: HostOwnerProps) => {
  const { session } = useServices()
  const [isEditing, setIsEditing] = useState(false)
  if (isEditing) return <OwnerForm agent={agent} reread={reread} close={() => setIsEditing(false)} />
  return (
    <Stack gap={6}>
      <Facts
        rows={[
          [strings.owner, <DeviceText key="owner" value={agent.owner} />],
          [
            strings.notes,
            <Text key="notes" as="div" breaks style={{ whiteSpace: 'pre-wrap' }}>
              <DeviceText value={agent.notes} />
            </Text>,
          ],
        ]}
      />
      {session.may('fleet:write') ? (
        <Row>
          <Button size="compact-xs" variant="default" onClick={() => setIsEditing(true)}>
            {strings.editOwner}
          </Button>
        </Row>
      ) : null}
    </Stack>
  )
}
