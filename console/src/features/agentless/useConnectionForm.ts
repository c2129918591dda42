import { addConnections, type Connection, updateConnection } from '@portcullis/contract'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { CallFailure, fieldMessage, isStoredRequest } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { type Opens, openedHosts } from '../../ui/policy/labels.ts'
import { opensByTags } from '../../ui/policy/opens-by-tags.ts'
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
import { strings } from './strings.ts'
import { useConnectionTest } from './useConnectionTest.ts'
import { useWorker } from './useWorker.ts'

const ownFields: readonly string[] = [...secretNames, 'userName', 'intervalMinutes']

/** Members that have a field on the screen. */
const shownFields = (draft: ConnectionDraft): string[] =>
  [...Object.keys(draft), 'newComputerName'].filter((name) => draft.isOverrideDefaults || !ownFields.includes(name))

// What is told beside its field need not be told twice.
const isAtField = (reason: unknown, draft: ConnectionDraft): boolean =>
  reason instanceof CallFailure &&
  reason.fields.length > 0 &&
  reason.fields.every(({ field }) =>
    shownFields(draft).some((name) => `body.${name}`.toLowerCase() === field.toLowerCase()),
  )

const serverMessage = (name: keyof ConnectionDraft, failure: unknown): string | undefined =>
  fieldMessage(failure, name) ?? (name === 'computerName' ? fieldMessage(failure, 'newComputerName') : undefined)

const curlOfDraft = (draft: ConnectionDraft, before: Connection | null): string =>
  before === null
    ? curlOf(window.location.origin, addConnections, { body: shownBody(inputOf(draft, null)) })
    : curlOf(window.location.origin, updateConnection, { body: shownBody(changeOf(draft, before)) })

export interface ConnectionFormProps {
  /** The connection to change; null adds one. */
  connection: Connection | null
  close: () => void
  /** Called with its name when it was stored. */
  onSaved: (computerName: string) => void
}

/** State and requests of the form of a polled computer. */
export const useConnectionForm = ({ connection, onSaved }: ConnectionFormProps) => {
  const { api, queries } = useServices()
  const worker = useWorker()
  const [before, setBefore] = useState(connection)
  const [draft, setDraft] = useState(() => draftOf(connection))
  const [failure, setFailure] = useState<unknown>(null)
  const [faults, setFaults] = useState<ReturnType<typeof faultsOf>>({})
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState('')
  const trial = useConnectionTest()
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
  const errorOf = (name: keyof ConnectionDraft) =>
    faults[name] ?? serverMessage(name, failure) ?? serverMessage(name, trial.failure)
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
        const found = opens === null ? await opensByTags(api, tagChangesOf(draft, before)) : null
        if (found !== null && openedHosts(found) > 0) {
          setOpens(found)
          return
        }
        const next = await api.call(updateConnection, { body: changeOf(draft, before) })
        setBefore(next)
        setDraft(draftOf(next))
        setOpens(null)
        // Beside the button: a notice in the corner would lie on it.
        setSaid(strings.changedItIsPolledAnew)
        onSaved(next.computerName)
      }
      void rereadConnections(queries)
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }

  return {
    before,
    draft,
    change,
    defaults,
    isPolling: worker.data?.adminStatus === 'Activated',
    errorOf,
    busy,
    said,
    isStored,
    opens,
    save,
    trial,
    test: () => {
      if (checked()) void trial.start(inputOf(draft, before))
    },
    /** Failures that no field tells; null: none. */
    saveFailure: isAtField(failure, draft) ? null : failure,
    testFailure: isAtField(trial.failure, draft) ? null : trial.failure,
    curl: () => curlOfDraft(draft, before),
  }
}

export type ConnectionEditing = ReturnType<typeof useConnectionForm>
