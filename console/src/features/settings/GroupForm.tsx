import { Button, Group } from '@mantine/core'
import type { ConfigMap } from '@portcullis/contract'
import { type ReactNode, useId, useRef, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { fieldMessage } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import {
  bodyOf,
  differencesOf,
  type Edits,
  faultOf,
  inWords,
  isMoved,
  itemsOf,
  noEdits,
  shownBody,
  shownText,
  textsAfter,
} from './draft.ts'
import { LeaveGuard } from './LeaveGuard.tsx'
import { saveOperations } from './operations.ts'
import type { SettingPage } from './pages.ts'
import { SaveDialog } from './SaveDialog.tsx'
import { SettingField } from './SettingField.tsx'
import classes from './settings.module.css'
import { TestSection } from './TestSection.tsx'
import { useGroupTest } from './useGroupTest.ts'
import { faultyItems, useSave } from './useSave.ts'

export interface GroupFormProps {
  page: SettingPage
  stored: ConfigMap
  /** Stands beside the fields: what they come to. */
  preview?: (texts: Record<string, string>) => ReactNode
  /** Stands above the fields; `enter` puts a text into one of them. */
  hint?: (texts: Record<string, string>, enter: (name: string, text: string) => void) => ReactNode
}

/** The form of a group: its fields, what is wrong with them, the test, and saving. */
export const GroupForm = ({ page, stored, preview, hint }: GroupFormProps) => {
  const { session } = useServices()
  const { group } = page
  const canWrite = session.may('config:write')
  const [edits, setEdits] = useState<Edits>(noEdits)
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({})
  /** Fields that were changed since the server judged them: what it said of them is over. */
  const [mended, setMended] = useState<ReadonlySet<string>>(new Set())
  const [said, setSaid] = useState('')
  const [isAsking, setIsAsking] = useState(false)
  const formId = useId()
  const form = useRef<HTMLFormElement>(null)
  const { busy, failure, save, forget } = useSave(page)
  const trial = useGroupTest(group)
  const body = bodyOf(group, stored, edits)
  const isDirty = Object.keys(body).length > 0
  const texts = textsAfter(group, stored, edits)
  const items = itemsOf(group)

  const enter = (name: string, text: string) => {
    setSaid('')
    setFaults(({ [name]: _mended, ...rest }) => rest)
    setMended((old) => new Set([...old, name]))
    setEdits((old) => ({ ...old, texts: { ...old.texts, [name]: text } }))
  }
  const remove = (name: string, removed: boolean) =>
    setEdits((old) => ({
      ...old,
      removed: removed ? [...old.removed, name] : old.removed.filter((other) => other !== name),
    }))
  const errorOf = (name: string): string | undefined => {
    const judged = mended.has(name) ? undefined : (fieldMessage(failure, name) ?? fieldMessage(trial.failure, name))
    const found = faults[name] ?? judged
    return found === undefined ? undefined : inWords(found)
  }
  // After the render that shows them: whoever saved by the keyboard goes on where it is wrong.
  const goTo = (names: readonly string[]) =>
    setTimeout(() => {
      const first = items.find(([name]) => names.includes(name))?.[0]
      if (first !== undefined) form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus()
    })

  const store = async () => {
    setMended(new Set())
    const saved = await save(body)
    if (saved === null) return
    setEdits(noEdits)
    setSaid(saved.changes.length === 0 ? 'Nothing differs.' : `Saved as version ${saved.version}.`)
  }
  const submit = () => {
    const found = Object.fromEntries(
      items.flatMap(([name, item]) => {
        const fault = Object.hasOwn(body, name) ? faultOf(item, shownText(name, stored, edits)) : null
        return fault === null ? [] : [[name, fault]]
      }),
    )
    setFaults(found)
    if (Object.keys(found).length > 0) return void goTo(Object.keys(found))
    if (!isDirty) return setSaid('Nothing was changed.')
    if (page.asks !== undefined && isMoved(body, stored, page.asks.names)) setIsAsking(true)
    else void store()
  }
  const named = faultyItems(failure)
  const isAtField = named.length > 0 && named.every((name) => items.some(([own]) => own === name))
  const lastFailure = useRef<unknown>(null)
  if (failure !== lastFailure.current) {
    lastFailure.current = failure
    if (isAtField) goTo(named)
  }
  const operation = saveOperations[group]

  return (
    <div className={classes.group}>
      <LeaveGuard isDirty={isDirty} />
      {page.idle !== undefined && texts[page.idle.item] === page.idle.text ? (
        <p className={classes.hint} role="note">
          <Icon name="info" />
          <span>{page.idle.words}</span>
        </p>
      ) : null}
      {hint?.(texts, enter)}
      <div className={preview === undefined ? undefined : classes.designer}>
        <form
          id={formId}
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          <fieldset disabled={!canWrite} className={classes.fields}>
            {items.map(([name, item]) => (
              <SettingField
                key={name}
                name={name}
                item={item}
                value={shownText(name, stored, edits)}
                error={errorOf(name)}
                onChange={(text) => enter(name, text)}
                isStored={item.kind === 'secret' && (stored[name] ?? '') !== ''}
                isRemoved={edits.removed.includes(name)}
                onRemove={(removed) => remove(name, removed)}
              />
            ))}
          </fieldset>
        </form>
        {preview?.(texts)}
      </div>
      {canWrite ? <TestSection group={group} trial={trial} body={body} onStart={() => setMended(new Set())} /> : null}
      {failure === null || isAtField ? null : <ErrorState failure={failure} inline />}
      {canWrite ? (
        <Group justify="flex-end" gap="sm" className={classes.foot}>
          <p className={classes.said} role="status">
            {said !== '' ? said : isAtField ? 'Not saved: see the fields.' : isDirty ? 'Not saved yet.' : ''}
          </p>
          <MoreMenu
            label="More of this form"
            curl={() =>
              operation === undefined ? '' : curlOf(window.location.origin, operation, { body: shownBody(body) })
            }
          />
          {isDirty ? (
            <Button
              variant="default"
              onClick={() => {
                setEdits(noEdits)
                setFaults({})
                setMended(new Set(items.map(([name]) => name)))
                setSaid('')
                forget()
              }}
            >
              Discard
            </Button>
          ) : null}
          <Button type="submit" form={formId} loading={busy}>
            Save
          </Button>
        </Group>
      ) : (
        <p className={classes.quiet}>You can read these; an Administrator can change them.</p>
      )}
      <SaveDialog
        rows={isAsking ? differencesOf(body, stored) : null}
        consequence={page.asks?.consequence ?? ''}
        close={() => setIsAsking(false)}
        save={() => void store()}
      />
    </div>
  )
}
