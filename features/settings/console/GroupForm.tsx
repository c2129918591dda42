import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { LeaveGuard } from '@portcullis/platform/console/ui/form/LeaveGuard.tsx'
import { SaveBar } from '@portcullis/platform/console/ui/form/SaveBar.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Columns, Note, Notice, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { type ReactNode, useId, useRef } from 'react'
import type { ConfigMap } from '#features/contract.ts'
import { differencesOf, itemsOf, sectionsOf, shownBody, shownText, textsAfter } from './draft.ts'
import { saveOperations } from './operations.ts'
import type { SettingPage } from './pages.ts'
import { SaveDialog } from './SaveDialog.tsx'
import { SettingField } from './SettingField.tsx'
import { strings } from './strings.ts'
import { TestSection } from './TestSection.tsx'
import { useGroupForm } from './useGroupForm.ts'

export interface GroupFormProps {
  page: SettingPage
  stored: ConfigMap
  /** Shown next to the fields. */
  preview?: (texts: Record<string, string>) => ReactNode
  /** Shown above the fields; `enter` fills one of them. */
  hint?: (texts: Record<string, string>, enter: (name: string, text: string) => void) => ReactNode
}

/** Says that the integration of the page is off. */
const Idle = ({ idle, texts }: { idle: SettingPage['idle']; texts: Record<string, string> }) =>
  idle !== undefined && texts[idle.item] === idle.value ? (
    <Notice role="note">
      <Icon name="info" />
      <span>{idle.text}</span>
    </Notice>
  ) : null

/** The settings under one heading. */
const Section = ({ title, children }: { title: string; children: ReactNode }) =>
  title === '' ? (
    children
  ) : (
    <Stack as="section" gap={14} ruled aria-label={title}>
      <h2>{title}</h2>
      {children}
    </Stack>
  )

/** The form of a group: fields, errors, test and saving. */
export const GroupForm = ({ page, stored, preview, hint }: GroupFormProps) => {
  const { session } = useServices()
  const { group } = page
  const canWrite = session.may('config:write')
  const formId = useId()
  const form = useRef<HTMLDivElement>(null)
  const entry = useGroupForm(page, stored, form)
  const { edits, body, failure, isDirty, isAtField } = entry
  const texts = textsAfter(group, stored, edits)
  const operation = saveOperations[group]
  const pending = isAtField ? strings.notSaved : isDirty ? strings.unsaved : ''

  return (
    <Stack ref={form} gap={16}>
      <LeaveGuard isDirty={isDirty} />
      <Idle idle={page.idle} texts={texts} />
      {hint?.(texts, entry.enter)}
      <Columns
        template={preview === undefined ? undefined : 'repeat(auto-fit, minmax(min(320px, 100%), 1fr))'}
        gap={24}
        align="start"
      >
        <form id={formId} noValidate onSubmit={submits(entry.submit)}>
          <Stack disabled={!canWrite} as="fieldset" gap={16} max={560}>
            {sectionsOf(itemsOf(group, page.names)).map(([section, items]) => (
              <Section key={section} title={section}>
                {items.map(([name, item]) => (
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
              </Section>
            ))}
          </Stack>
        </form>
        {preview?.(texts)}
      </Columns>
      {canWrite ? (
        <TestSection
          group={group}
          test={entry.test}
          body={body}
          start={entry.runTest}
          errorOf={entry.errorOf}
          touch={entry.touch}
        />
      ) : null}
      {failure === null || isAtField ? null : <ErrorState failure={failure} resend={() => void entry.store()} inline />}
      {canWrite ? (
        <SaveBar
          menu={
            operation === undefined ? null : (
              <MoreMenu label={strings.moreActions} curl={() => curlOf(operation, { body: shownBody(body) })} />
            )
          }
          formId={formId}
          busy={entry.busy}
          isDirty={isDirty}
          isStored={entry.isStored}
          status={entry.status === '' ? pending : entry.status}
          discard={entry.discard}
        />
      ) : (
        <Note>{strings.readOnly}</Note>
      )}
      <SaveDialog
        rows={entry.isAsking ? differencesOf(body, stored) : null}
        consequence={page.asks?.consequence ?? ''}
        close={entry.stopAsking}
        save={() => void entry.store()}
      />
    </Stack>
  )
}
