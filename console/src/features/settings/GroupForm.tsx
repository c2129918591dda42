import type { ConfigMap } from '@portcullis/contract'
import { type ReactNode, useId, useRef } from 'react'
import { useServices } from '../../lib/services.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { LeaveGuard } from '../../ui/form/LeaveGuard.tsx'
import { Icon } from '../../ui/icons.tsx'
import { differencesOf, itemsOf, shownText, textsAfter } from './draft.ts'
import { FormFoot } from './FormFoot.tsx'
import type { SettingPage } from './pages.ts'
import { SaveDialog } from './SaveDialog.tsx'
import { SettingField } from './SettingField.tsx'
import classes from './settings.module.css'
import { strings } from './strings.ts'
import { TestSection } from './TestSection.tsx'
import { useGroupForm } from './useGroupForm.ts'

export interface GroupFormProps {
  page: SettingPage
  stored: ConfigMap
  /** Stands beside the fields: what they come to. */
  preview?: (texts: Record<string, string>) => ReactNode
  /** Stands above the fields; `enter` puts a text into one of them. */
  hint?: (texts: Record<string, string>, enter: (name: string, text: string) => void) => ReactNode
}

/** Says that what a page sets up is not in use. */
const Idle = ({ idle, texts }: { idle: SettingPage['idle']; texts: Record<string, string> }) =>
  idle !== undefined && texts[idle.item] === idle.text ? (
    <p className={classes.hint} role="note">
      <Icon name="info" />
      <span>{idle.words}</span>
    </p>
  ) : null

/** The form of a group: its fields, what is wrong with them, the test, and saving. */
export const GroupForm = ({ page, stored, preview, hint }: GroupFormProps) => {
  const { session } = useServices()
  const { group } = page
  const canWrite = session.may('config:write')
  const formId = useId()
  const form = useRef<HTMLFormElement>(null)
  const entry = useGroupForm(page, stored, form)
  const { edits, body, failure, isDirty, isAtField } = entry
  const texts = textsAfter(group, stored, edits)
  const standing = isAtField ? strings.notSavedSeeTheFields : isDirty ? strings.notSavedYet : ''

  return (
    <div className={classes.group}>
      <LeaveGuard isDirty={isDirty} />
      <Idle idle={page.idle} texts={texts} />
      {hint?.(texts, entry.enter)}
      <div className={preview === undefined ? undefined : classes.designer}>
        <form
          id={formId}
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            entry.submit()
          }}
        >
          <fieldset disabled={!canWrite} className={classes.fields}>
            {itemsOf(group).map(([name, item]) => (
              <SettingField
                key={name}
                name={name}
                item={item}
                value={shownText(name, stored, edits)}
                error={entry.errorOf(name)}
                onChange={(text) => entry.enter(name, text)}
                isStored={item.kind === 'secret' && (stored[name] ?? '') !== ''}
                isRemoved={edits.removed.includes(name)}
                onRemove={(removed) => entry.remove(name, removed)}
              />
            ))}
          </fieldset>
        </form>
        {preview?.(texts)}
      </div>
      {canWrite ? <TestSection group={group} trial={entry.trial} body={body} start={entry.tryOut} /> : null}
      {failure === null || isAtField ? null : <ErrorState failure={failure} inline />}
      {canWrite ? (
        <FormFoot
          group={group}
          formId={formId}
          body={body}
          busy={entry.busy}
          isDirty={isDirty}
          isStored={entry.isStored}
          said={entry.said === '' ? standing : entry.said}
          discard={entry.discard}
        />
      ) : (
        <p className={classes.quiet}>{strings.youCanReadTheseAnAdministrator}</p>
      )}
      <SaveDialog
        rows={entry.isAsking ? differencesOf(body, stored) : null}
        consequence={page.asks?.consequence ?? ''}
        close={entry.stopAsking}
        save={() => void entry.store()}
      />
    </div>
  )
}
