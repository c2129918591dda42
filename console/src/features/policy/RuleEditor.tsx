import { Button, Group } from '@mantine/core'
import type { PolicyRuleResource } from '@portcullis/contract'
import { useRef } from 'react'
import { useSession } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { ReasonField } from '../../ui/form/ReasonField.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { PreviewPanel } from '../../ui/policy/PreviewPanel.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import { DraftTest } from './DraftTest.tsx'
import classes from './RuleEditor.module.css'
import { RuleFields } from './RuleFields.tsx'
import { ruleStates } from './rule-states.ts'
import { type RuleEditing, type RuleEditorProps, useRuleEditor } from './useRuleEditor.ts'

const Origin = ({ rule }: { rule: PolicyRuleResource }) => {
  const { severity, cure } = ruleStates[rule.state]
  return (
    <div className={classes.origin}>
      <p>
        <DeviceText value={rule.sentence} />
      </p>
      <p className={classes.quiet}>
        {rule.origin === 'approval' ? 'Made by approving or denying a device' : 'Written'} by{' '}
        <DeviceText value={rule.createdBy} /> <Time value={rule.createdAt} form="local" />
        {rule.changedAt === rule.createdAt ? null : (
          <>
            , changed by <DeviceText value={rule.changedBy} /> <Time value={rule.changedAt} form="local" />
          </>
        )}
      </p>
      {cure === '' ? null : (
        <p role="note">
          <SeverityTag severity={severity} word={rule.state.toLowerCase()} /> {cure}
        </p>
      )}
    </div>
  )
}

interface ActionsProps extends RuleEditorProps {
  editing: RuleEditing
}

/** Keep it, or delete it. */
const DeleteActions = ({ editing, isGrant }: ActionsProps) => (
  <Group key="delete" gap="sm">
    <Button size="xs" variant="default" onClick={() => editing.setDeleting(false)} autoFocus>
      Keep it
    </Button>
    <Button size="xs" color="red" loading={editing.busy} disabled={!editing.canRemove} onClick={editing.remove}>
      {editing.needsApprover ? 'Request approval' : isGrant ? 'End the grant' : 'Delete the rule'}
    </Button>
  </Group>
)

const SaveActions = ({ editing, rule, close }: ActionsProps) => (
  <Group key="save" gap="sm">
    <Button size="xs" variant="default" onClick={close}>
      Cancel
    </Button>
    <Button size="xs" type="submit" loading={editing.busy} title="Ctrl Enter">
      {editing.needsApprover ? 'Request approval' : rule === null ? `Save the ${editing.thing}` : 'Save'}
    </Button>
  </Group>
)

const Actions = (props: ActionsProps) => {
  const { editing, rule, isGrant, canWrite, close } = props
  if (editing.isStored)
    return (
      <Group justify="flex-end">
        <Button size="xs" variant="default" onClick={close} autoFocus>
          Close
        </Button>
      </Group>
    )
  if (!canWrite) return null
  return (
    <Group justify="space-between" gap="sm">
      <span>
        {rule !== null && !editing.deleting ? (
          <Button size="xs" variant="default" onClick={() => editing.setDeleting(true)}>
            {isGrant ? 'End now…' : 'Delete…'}
          </Button>
        ) : null}
      </span>
      {rule !== null && editing.deleting ? <DeleteActions {...props} /> : <SaveActions {...props} />}
    </Group>
  )
}

/** What the change would do, why, and the buttons. */
const Foot = (props: ActionsProps) => {
  const { editing, canWrite } = props
  const { change, deleting, failure } = editing
  return (
    <footer className={classes.foot}>
      <PreviewPanel
        draft={canWrite ? change : null}
        waiting={
          !canWrite
            ? 'You may read rules; changing them takes a Manager.'
            : editing.isSame
              ? 'Nothing is changed yet.'
              : 'What this would change is shown here as soon as it says which devices and which hosts.'
        }
      />
      {canWrite ? <DraftTest draft={change} /> : null}
      {deleting && editing.needsReason ? (
        <ReasonField
          size="xs"
          required
          value={editing.reason}
          placeholder="Why these devices may be used"
          onChange={editing.setReason}
        />
      ) : null}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <Actions {...props} />
    </footer>
  )
}

/** Writes, changes and deletes a rule or grant, with what it would do beside it. */
export const RuleEditor = (props: RuleEditorProps) => {
  const { rule, isGrant, canWrite } = props
  const session = useSession()
  const form = useRef<HTMLFormElement>(null)
  // The first field at fault is where the keyboard goes on.
  const editing = useRuleEditor(props, () =>
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()),
  )
  const { thing, deleting, isStored, save } = editing
  return (
    <form
      ref={form}
      className={classes.editor}
      aria-label={rule === null ? `New ${thing}` : `Change the ${thing}`}
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault()
          save()
        }
      }}
    >
      <header className={classes.head}>
        <h2>{rule === null ? `New ${thing}` : isGrant ? 'Grant' : 'Rule'}</h2>
        <MoreMenu label="More about this" curl={editing.curl} />
      </header>
      <div className={classes.body}>
        {rule === null ? null : <Origin rule={rule} />}
        {deleting ? null : (
          // A reader sees the same fields, and cannot change them.
          <fieldset className={classes.plain} disabled={!canWrite || isStored}>
            <RuleFields
              draft={editing.draft}
              change={editing.edit}
              faults={editing.shownFaults}
              isGrant={isGrant}
              mayOverride={session.phase === 'in' && session.profile.account.userProfile === 10}
            />
          </fieldset>
        )}
      </div>
      <Foot {...props} editing={editing} />
    </form>
  )
}
