import { Button } from '@mantine/core'
import { useSession } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { EditConflict } from '@portcullis/platform/console/ui/form/EditConflict.tsx'
import { ReasonField } from '@portcullis/platform/console/ui/form/ReasonField.tsx'
import { RestoredInput } from '@portcullis/platform/console/ui/form/RestoredInput.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Note, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useRef } from 'react'
import type { PolicyRuleResource } from '#features/contract.ts'
import { DraftTest } from './DraftTest.tsx'
import classes from './RuleEditor.module.css'
import { RuleFields } from './RuleFields.tsx'
import { ruleStates } from './rule-states.ts'
import { PreviewPanel } from './shared/PreviewPanel.tsx'
import { strings } from './strings.ts'
import { type RuleEditing, type RuleEditorProps, useRuleEditor } from './useRuleEditor.ts'

const Origin = ({ rule }: { rule: PolicyRuleResource }) => {
  const { severity, label, cure } = ruleStates[rule.state]
  return (
    <Stack gap={6} small style={{ marginBottom: 14 }}>
      <p>
        <DeviceText value={rule.sentence} />
      </p>
      <Note>
        {(rule.origin === 'approval' ? strings.createdByApproval : strings.createdByRule)({
          user: <DeviceText key="user" value={rule.createdBy} />,
          time: <Time key="time" value={rule.createdAt} form="local" />,
        })}
        {rule.changedAt === rule.createdAt ? null : (
          <>
            <br />
            {strings.changedBy2({
              user: <DeviceText key="user" value={rule.changedBy} />,
              time: <Time key="time" value={rule.changedAt} form="local" />,
            })}
          </>
        )}
        {rule.level === 'grant' ? null : (
          <>
            <br />
            {strings.ruleHits({ count: rule.hits })} {rule.isUnused ? `${strings.unused}: ${strings.unusedHint}` : null}
          </>
        )}
      </Note>
      {rule.shadowedBy === null ? null : (
        <p role="note">
          {strings.shadowedBy({
            link: (text) => (
              <PlainLink key="link" href={`/policy?open=${encodeURIComponent(rule.shadowedBy ?? '')}`}>
                {text}
              </PlainLink>
            ),
          })}
        </p>
      )}
      {cure === '' ? null : (
        <p role="note">
          <SeverityTag severity={severity} word={label} /> {cure}
        </p>
      )}
    </Stack>
  )
}

interface ActionsProps extends RuleEditorProps {
  editing: RuleEditing
}

/** Buttons that confirm or cancel the deletion. */
const DeleteActions = ({ editing, isGrant }: ActionsProps) => (
  <DialogActions
    key="delete"
    size="xs"
    close={() => editing.setDeleting(false)}
    action={editing.needsApprover ? strings.requestApproval : isGrant ? strings.endGrant : strings.deleteRule}
    run={editing.remove}
    busy={editing.busy}
    isReady={editing.canRemove}
    isDangerous
    takesFocus
  />
)

const SaveActions = ({ editing, rule, isGrant, close }: ActionsProps) => (
  <DialogActions
    key="save"
    size="xs"
    close={() => {
      // After Cancel, the form opens without the input.
      editing.dropInput()
      close()
    }}
    action={
      editing.needsApprover
        ? strings.requestApproval
        : rule === null
          ? isGrant
            ? strings.addGrant
            : strings.addRule
          : strings.save
    }
    busy={editing.busy}
    // Merge the change of the other person first.
    isReady={editing.conflict === null}
    startsAt="form"
    hint={strings.ctrlEnter}
    aside={
      rule === null ? undefined : (
        <Button size="xs" variant="default" onClick={() => editing.setDeleting(true)}>
          {isGrant ? strings.askEndGrant : strings.askDeleteRule}
        </Button>
      )
    }
  />
)

const Actions = (props: ActionsProps) => {
  const { editing, rule, canWrite, close } = props
  if (editing.isStored) return <DialogActions key="stored" size="xs" close={close} action={null} isStored takesFocus />
  if (!canWrite) return null
  return rule !== null && editing.deleting ? <DeleteActions {...props} /> : <SaveActions {...props} />
}

/** The effect of the change: the preview and the simulation. */
const Effect = ({ editing, canWrite }: Pick<ActionsProps, 'editing' | 'canWrite'>) => (
  <section className={classes.effect} aria-label={strings.preview}>
    <PreviewPanel
      draft={canWrite ? editing.change : null}
      waiting={!canWrite ? strings.readOnly : editing.isSame ? strings.unchanged : strings.previewHint}
    />
    {canWrite ? <DraftTest draft={editing.change} /> : null}
  </section>
)

/** Reason, error and buttons. */
const Foot = (props: ActionsProps) => {
  const { editing } = props
  const { deleting, failure } = editing
  return (
    <Stack
      as="footer"
      gap={10}
      pad="10px 16px 12px"
      style={{ borderTop: '1px solid var(--pc-line)', background: 'var(--pc-surface)' }}
    >
      {deleting && editing.needsReason ? (
        <ReasonField
          size="xs"
          required
          value={editing.reason}
          placeholder={strings.whyDevices}
          onChange={editing.setReason}
        />
      ) : null}
      {editing.conflict === null ? null : <EditConflict {...editing.conflict} />}
      <ErrorState
        failure={editing.conflict === null ? failure : null}
        {...(props.rule === null || deleting ? {} : { resend: editing.save })}
        inline
      />
      <Actions {...props} />
    </Stack>
  )
}

/** Adds, edits and deletes a rule or grant with a preview. */
export const RuleEditor = (props: RuleEditorProps) => {
  const { rule, isGrant, canWrite } = props
  const session = useSession()
  const form = useRef<HTMLFormElement>(null)
  // Focus moves to the first invalid field.
  const editing = useRuleEditor(props, () =>
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()),
  )
  const { deleting, isStored, save } = editing
  const title = isGrant
    ? rule === null
      ? strings.addGrant
      : strings.editGrant
    : rule === null
      ? strings.addRule
      : strings.editRule
  return (
    <Stack
      ref={form}
      as="form"
      gap={0}
      style={{ containerType: 'inline-size', height: '100%' }}
      aria-label={title}
      onSubmit={submits(save)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault()
          save()
        }
      }}
    >
      <Row as="header" gap={6} pad="12px 80px 8px 16px">
        <h2>{title}</h2>
        <MoreMenu label={strings.moreActions} curl={editing.curl} />
      </Row>
      <div className={classes.columns}>
        <div className={classes.body}>
          {rule === null ? null : <Origin rule={rule} />}
          {editing.restoredAt === null ? null : (
            <RestoredInput at={editing.restoredAt} discard={editing.discardInput} />
          )}
          {deleting ? null : (
            // Accounts without write permission see the fields disabled.
            <Text as="fieldset" style={{ border: 0 }} disabled={!canWrite || isStored}>
              <RuleFields
                draft={editing.draft}
                change={editing.edit}
                faults={editing.shownFaults}
                isGrant={isGrant}
                mayOverride={session.phase === 'in' && session.profile.account.userProfile === 10}
              />
            </Text>
          )}
        </div>
        <Effect editing={editing} canWrite={canWrite} />
      </div>
      <Foot {...props} editing={editing} />
    </Stack>
  )
}
