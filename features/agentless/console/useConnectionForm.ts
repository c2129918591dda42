import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { CallFailure, fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { useState } from 'react'
import { addConnections, type Connection, updateConnection } from '#features/contract.ts'
import { type Opens, openedHosts } from '#features/policy/console/shared/labels.ts'
import { opensByTags } from '#features/policy/console/shared/opens-by-tags.ts'
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

/** Returns the members that have a visible field. */
const shownFields = (draft: ConnectionDraft): string[] =>
  [...Object.keys(draft), 'newComputerName'].filter((name) => draft.isOverrideDefaults || !ownFields.includes(name))

// Errors that are shown at their fields are not shown again.
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
    ? curlOf(addConnections, { body: shownBody(inputOf(draft, null)) })
    : curlOf(updateConnection, { body: shownBody(changeOf(draft, before)) })

export interface ConnectionFormProps {
  /** The connection to change, or null to add one. */
  connection: Connection | null
  close: () => void
  /** Called with the name of the saved host. */
  onSaved: (computerName: string) => void
}

/** State and requests of the form of an agentless host. */
export const useConnectionForm = ({ connection, onSaved }: ConnectionFormProps) => {
  const { api, queries } = useServices()
  const worker = useWorker()
  const [before, setBefore] = useState(connection)
  const [draft, setDraft] = useState(() => draftOf(connection))
  const { busy, failure, isStored, run, setFailure } = useChange({ closes: false })
  const [faults, setFaults] = useState<ReturnType<typeof faultsOf>>({})
  const [status, setStatus] = useState('')
  const test = useConnectionTest()
  const defaults = worker.data?.defaults
  // Devices that the changed tags newly allow. Once they are shown, saving needs a second click.
  const [opens, setOpens] = useState<Opens | null>(null)
  const change = (part: Partial<ConnectionDraft>) => {
    setStatus('')
    if (part.hashtags !== undefined) setOpens(null)
    setDraft((old) => ({ ...old, ...part }))
    // Other values are another request.
    if (isStored) setFailure(null)
  }
  const errorOf = (name: keyof ConnectionDraft) =>
    faults[name] ?? serverMessage(name, failure) ?? serverMessage(name, test.failure)
  const checked = (): boolean => {
    const found = faultsOf(draft)
    setFaults(found)
    return Object.keys(found).length === 0
  }
  const save = async () => {
    if (isStored || !checked()) return
    await run(async () => {
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
        // Shown next to the button: a message in the corner would cover it.
        setStatus(strings.saved)
        onSaved(next.computerName)
      }
      void rereadConnections(queries)
    })
  }

  return {
    before,
    draft,
    change,
    defaults,
    isPolling: worker.data?.adminStatus === 'Activated',
    errorOf,
    busy,
    status,
    isStored,
    opens,
    save,
    test,
    runTest: () => {
      if (checked()) void test.start(inputOf(draft, before))
    },
    /** Failures that no field shows, or null. */
    saveFailure: isAtField(failure, draft) ? null : failure,
    testFailure: isAtField(test.failure, draft) ? null : test.failure,
    curl: () => curlOfDraft(draft, before),
  }
}

export type ConnectionEditing = ReturnType<typeof useConnectionForm>
