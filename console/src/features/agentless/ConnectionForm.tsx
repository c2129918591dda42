import { Button, Group, NativeSelect, NumberInput, Stack, Switch, TagsInput, TextInput } from '@mantine/core'
import {
  addConnections,
  type Connection,
  connectionPlatforms,
  getHashtags,
  updateConnection,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { CallFailure, fieldMessage, isStoredRequest } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { NewlyAllowed } from '../../ui/policy/NewlyAllowed.tsx'
import { opensByTags } from '../../ui/policy/opens-by-tags.ts'
import { type Opens, openedHosts } from '../../ui/policy/words.ts'
import classes from './agentless.module.css'
import { CredentialFields } from './CredentialFields.tsx'
import { rereadConnections } from './connection-actions.ts'
import {
  type ConnectionDraft,
  changeOf,
  draftOf,
  faultsOf,
  inputOf,
  secretNames,
  shownBody,
  tagChangesOf,
} from './connection-draft.ts'
import { TestSteps } from './TestSteps.tsx'
import { useConnectionTest } from './useConnectionTest.ts'
import { useWorker } from './useWorker.ts'
import { platformWords } from './words.ts'

const platforms = connectionPlatforms.map((value) => ({ value, label: platformWords[value] }))

const ownFields: readonly string[] = [...secretNames, 'userName', 'intervalMinutes']

/** Members that have a field on the screen. */
const shownFields = (draft: ConnectionDraft): string[] =>
  [...Object.keys(draft), 'newComputerName'].filter((name) => draft.isOverrideDefaults || !ownFields.includes(name))

export interface ConnectionFormProps {
  /** The connection to change; null adds one. */
  connection: Connection | null
  close: () => void
  /** Called with its name when it was stored. */
  onSaved: (computerName: string) => void
}

/** Adds or changes a polled computer, and tries it before or after. */
export const ConnectionForm = ({ connection, close, onSaved }: ConnectionFormProps) => {
  const { api, queries } = useServices()
  const worker = useWorker()
  const [before, setBefore] = useState(connection)
  const [draft, setDraft] = useState(() => draftOf(connection))
  const [failure, setFailure] = useState<unknown>(null)
  const [faults, setFaults] = useState<ReturnType<typeof faultsOf>>({})
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState('')
  const trial = useConnectionTest()
  const tags = useQuery({ queryKey: ['tags'], queryFn: ({ signal }) => api.call(getHashtags, { signal }) })
  const defaults = worker.data?.defaults
  const isStored = isStoredRequest(failure)
  // What changed tags newly allow, once the form has asked about it; then saving needs a second click.
  const [opens, setOpens] = useState<Opens | null>(null)
  const change = (part: Partial<ConnectionDraft>) => {
    setSaid('')
    if (part.hashtags !== undefined) setOpens(null)
    setDraft((old) => ({ ...old, ...part }))
    // Other values are another request.
    if (isStored) setFailure(null)
  }
  const serverMessage = (name: string) => fieldMessage(failure, name) ?? fieldMessage(trial.failure, name)
  const errorOf = (name: keyof ConnectionDraft) =>
    faults[name] ?? serverMessage(name) ?? (name === 'computerName' ? serverMessage('newComputerName') : undefined)
  // What is told beside its field need not be told twice.
  const isAtField = (reason: unknown) =>
    reason instanceof CallFailure &&
    reason.fields.length > 0 &&
    reason.fields.every(({ field }) =>
      shownFields(draft).some((name) => `body.${name}`.toLowerCase() === field.toLowerCase()),
    )

  const checked = (): boolean => {
    const found = faultsOf(draft)
    setFaults(found)
    return Object.keys(found).length === 0
  }
  const save = async () => {
    if (isStored || !checked()) return
    setBusy(true)
    setFailure(null)
    try {
      if (before === null) {
        await api.call(addConnections, { body: inputOf(draft, null) })
        onSaved(draft.computerName.trim())
      } else {
        if (opens === null) {
          const found = await opensByTags(api, tagChangesOf(draft, before))
          if (openedHosts(found) > 0) {
            setOpens(found)
            return
          }
        }
        const next = await api.call(updateConnection, { body: changeOf(draft, before) })
        setBefore(next)
        setDraft(draftOf(next))
        setOpens(null)
        // Beside the button: a notice in the corner would lie on it.
        setSaid('Changed; it is polled anew.')
        onSaved(next.computerName)
      }
      void rereadConnections(queries)
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <Stack gap="sm">
        <Group gap="md" align="flex-start" wrap="nowrap">
          <TextInput
            label="Computer"
            description="Name or address"
            flex={1}
            maxLength={255}
            autoComplete="off"
            spellCheck={false}
            data-autofocus={before === null || undefined}
            value={draft.computerName}
            error={errorOf('computerName')}
            onChange={(event) => change({ computerName: event.currentTarget.value })}
          />
          <NumberInput
            label="Port"
            description="of its SSH server"
            w={130}
            min={1}
            max={65_535}
            allowDecimal={false}
            placeholder={defaults === undefined ? '' : `${defaults.port}, as usual`}
            value={draft.port}
            error={errorOf('port')}
            onChange={(port) => change({ port })}
          />
          <NativeSelect
            label="System"
            description="of the computer"
            w={130}
            data={platforms}
            value={draft.platform}
            error={errorOf('platform')}
            onChange={(event) => {
              const chosen = event.currentTarget.value
              change({ platform: connectionPlatforms.find((one) => one === chosen) ?? 'auto' })
            }}
          />
        </Group>
        <TagsInput
          label="Tags of the host"
          placeholder={draft.hashtags.length === 0 ? 'none' : ''}
          data={(tags.data ?? []).map(({ name }) => name)}
          maxTags={100}
          value={draft.hashtags}
          error={errorOf('hashtags')}
          onChange={(hashtags) => change({ hashtags })}
        />
        <TextInput
          label="Host key"
          description="SHA256:… as ssh-keygen -l prints it. Empty: the key of the next contact is pinned."
          spellCheck={false}
          value={draft.hostKeyFingerprint}
          error={errorOf('hostKeyFingerprint')}
          onChange={(event) => change({ hostKeyFingerprint: event.currentTarget.value })}
        />
        <Switch
          label="Own credentials and interval, in place of the defaults"
          checked={draft.isOverrideDefaults}
          onChange={(event) => change({ isOverrideDefaults: event.currentTarget.checked })}
        />
        {draft.isOverrideDefaults ? (
          <CredentialFields
            draft={draft}
            stored={{
              password: before?.hasPassword === true,
              privateKey: before?.hasPrivateKey === true,
              passphrase: before?.hasPassphrase === true,
            }}
            onChange={change}
            errorOf={errorOf}
            placeholders={{
              userName: 'none',
              intervalMinutes: defaults === undefined ? '' : `${defaults.intervalMinutes}, as usual`,
            }}
          />
        ) : null}
        {failure === null || isAtField(failure) ? null : <ErrorState failure={failure} inline />}
        {isStored ? null : <NewlyAllowed opens={opens} reason="" setReason={() => {}} />}
        {trial.failure === null || isAtField(trial.failure) ? null : <ErrorState failure={trial.failure} inline />}
        {trial.test === null ? null : (
          <TestSteps test={trial.test} isPolling={worker.data?.adminStatus === 'Activated'} />
        )}
        <Group justify="flex-end" gap="sm" className={classes.formFoot}>
          <p className={classes.said} role="status">
            {said}
          </p>
          <MoreMenu
            label="More of this computer"
            curl={() =>
              before === null
                ? curlOf(window.location.origin, addConnections, { body: shownBody(inputOf(draft, null)) })
                : curlOf(window.location.origin, updateConnection, { body: shownBody(changeOf(draft, before)) })
            }
          />
          {trial.busy ? (
            <Button variant="default" onClick={trial.stop}>
              Stop the test
            </Button>
          ) : (
            <Button
              variant="default"
              onClick={() => {
                if (checked()) void trial.start(inputOf(draft, before))
              }}
            >
              Test now
            </Button>
          )}
          <Button variant="default" onClick={close}>
            {before === null ? 'Cancel' : 'Close'}
          </Button>
          {isStored ? null : (
            <Button type="submit" loading={busy}>
              {before === null ? 'Add the computer' : opens === null ? 'Save' : 'Save and allow'}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}
