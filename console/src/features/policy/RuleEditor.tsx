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
import { strings } from './strings.ts'
import { type RuleEditing, type RuleEditorProps, useRuleEditor } from './useRuleEditor.ts'

const Origin = ({ rule }: { rule: PolicyRuleResource }) => {
  const { severity, cure } = ruleStates[rule.state]
  return (
    <div className={classes.origin}>
      <p>
        <DeviceText value={rule.sentence} />
      </p>
      <p className={classes.quiet}>
        {strings.valueByDevicetextTimeValue2({
          value: rule.origin === 'approval' ? strings.madeByApprovingOrDenyingA : strings.written,
          deviceText: <DeviceText value={rule.createdBy} />,
          time: <Time value={rule.createdAt} form="local" />,
          value2:
            rule.changedAt === rule.createdAt
              ? null
              : strings.changedByDevicetextTime({
                  deviceText: <DeviceText value={rule.changedBy} />,
                  time: <Time value={rule.changedAt} form="local" />,
                }),
        })}
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
      {strings.keepIt}
    </Button>
    <Button size="xs" color="red" loading={editing.busy} disabled={!editing.canRemove} onClick={editing.remove}>
      {editing.needsApprover ? strings.requestApproval : isGrant ? strings.endTheGrant : strings.deleteTheRule}
    </Button>
  </Group>
)

const SaveActions = ({ editing, rule, close }: ActionsProps) => (
  <Group key="save" gap="sm">
    <Button size="xs" variant="default" onClick={close}>
      {strings.cancel}
    </Button>
    <Button size="xs" type="submit" loading={editing.busy} title={strings.ctrlEnter}>
      {editing.needsApprover
        ? strings.requestApproval
        : rule === null
          ? strings.saveTheThing({ thing: editing.thing })
          : strings.save}
    </Button>
  </Group>
)

const Actions = (props: ActionsProps) => {
  const { editing, rule, isGrant, canWrite, close } = props
  if (editing.isStored)
    return (
      <Group justify="flex-end">
        <Button size="xs" variant="default" onClick={close} autoFocus>
          {strings.close}
        </Button>
      </Group>
    )
  if (!canWrite) return null
  return (
    <Group justify="space-between" gap="sm">
      <span>
        {rule !== null && !editing.deleting ? (
          <Button size="xs" variant="default" onClick={() => editing.setDeleting(true)}>
            {isGrant ? strings.endNow : strings.deleteText}
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
            ? strings.youMayReadRulesChangingThem
            : editing.isSame
              ? strings.nothingIsChangedYet
              : strings.whatThisWouldChangeIsShown
        }
      />
      {canWrite ? <DraftTest draft={change} /> : null}
      {deleting && editing.needsReason ? (
        <ReasonField
          size="xs"
          required
          value={editing.reason}
          placeholder={strings.whyTheseDevicesMayBeUsed}
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
      aria-label={rule === null ? strings.newThing({ thing }) : strings.changeTheThing({ thing })}
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
        <h2>{rule === null ? strings.newThing({ thing }) : isGrant ? strings.grant : strings.rule}</h2>
        <MoreMenu label={strings.moreAboutThis} curl={editing.curl} />
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
