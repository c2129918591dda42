import { Button, Group, TextInput } from '@mantine/core'
import {
  createPolicyGrant,
  createPolicyRule,
  deletePolicyGrant,
  deletePolicyRule,
  type PolicyDraft,
  type PolicyRuleResource,
  previewPolicy,
  updatePolicyGrant,
  updatePolicyRule,
} from '@portcullis/contract'
import { useRef, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { isStoredRequest } from '../../lib/problem.ts'
import { useServices, useSession } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { asReason } from '../../ui/policy/NewlyAllowed.tsx'
import { PreviewPanel } from '../../ui/policy/PreviewPanel.tsx'
import { canPreview, draftOf, faultsOf, grantOf, inputOf, type RuleDraft } from '../../ui/policy/rule-draft.ts'
import { tellPolicyChange } from '../../ui/policy/undo.ts'
import { usePreview } from '../../ui/policy/usePreview.ts'
import { hosts as hostsText, openedHosts, openedText } from '../../ui/policy/words.ts'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { DraftTest } from './DraftTest.tsx'
import classes from './RuleEditor.module.css'
import { RuleFields } from './RuleFields.tsx'
import { ruleStates } from './rule-states.ts'

export interface RuleEditorProps {
  /** The rule to change; null writes a new one. */
  rule: PolicyRuleResource | null
  /** What a new one starts with. */
  start: RuleDraft
  isGrant: boolean
  canWrite: boolean
  close: () => void
}

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

/** Writes, changes and deletes a rule or grant, with what it would do beside it. */
export const RuleEditor = ({ rule, start, isGrant, canWrite, close }: RuleEditorProps) => {
  const services = useServices()
  const { api, clock, queries } = services
  const session = useSession()
  const form = useRef<HTMLFormElement>(null)
  const [draft, setDraft] = useState(() => (rule === null ? start : draftOf(rule)))
  const [tried, setTried] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const [reason, setReason] = useState('')
  const faults = faultsOf(draft, { isGrant, now: clock.now() })
  const isStored = isStoredRequest(failure)
  const thing = isGrant ? 'grant' : 'rule'
  const removed = rule === null ? [] : [rule.id]
  const isSame = rule !== null && JSON.stringify(inputOf(draft)) === JSON.stringify(inputOf(draftOf(rule)))
  const change: PolicyDraft | null = deleting
    ? { remove: removed }
    : canPreview(faults) && !isSame
      ? { add: [inputOf(draft)], remove: removed }
      : null

  const { preview, isStale } = usePreview(canWrite ? change : null)
  const needsApprover = preview?.secondPerson === true
  const needsReason = preview !== undefined && openedHosts(preview) > 1

  const run = async (work: () => Promise<{ version: number; warnings?: readonly unknown[] }>, message: string) => {
    setBusy(true)
    setFailure(null)
    try {
      const { version } = await work()
      close()
      tellPolicyChange(services, message, version)
    } catch (cause) {
      setFailure(cause)
      setBusy(false)
    }
  }
  /** Saves at once what allows devices on one host at most; asks before all else. */
  const ask = async (save: () => Promise<void>) => {
    setBusy(true)
    setFailure(null)
    try {
      const text = JSON.stringify(change)
      const said =
        change === null
          ? null
          : await queries.fetchQuery({
              queryKey: ['policy-preview', text],
              queryFn: () => api.call(previewPolicy, { body: change }),
              staleTime: 10_000,
            })
      const hosts = said === null ? 0 : openedHosts(said)
      if (said === null || hosts <= 1) {
        await save()
        return
      }
      setBusy(false)
      confirm({
        title: `Allow devices on ${hostsText(hosts)}`,
        names: [],
        count: hosts,
        kind: ['host', 'hosts'],
        consequence: said.secondPerson
          ? 'a second approver has to agree first.'
          : `the ${thing} takes effect within a second.`,
        action: said.secondPerson ? 'Request approval' : `Save the ${thing}`,
        worksAgain: openedText(said),
        run: save,
      })
    } catch (cause) {
      setFailure(cause)
      setBusy(false)
    }
  }
  const save = () => {
    if (isStored) return
    setTried(true)
    if (Object.keys(faults).length > 0) {
      // The first field at fault is where the keyboard goes on.
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
      return
    }
    if (isGrant) {
      const body = grantOf(draft)
      void ask(() =>
        run(
          () =>
            rule === null
              ? api.call(createPolicyGrant, { body })
              : api.call(updatePolicyGrant, { params: { id: rule.id }, body }),
          rule === null ? 'Grant in force.' : 'Grant changed.',
        ),
      )
      return
    }
    const body = inputOf(draft)
    void ask(() =>
      run(
        () =>
          rule === null
            ? api.call(createPolicyRule, { body })
            : api.call(updatePolicyRule, { params: { id: rule.id }, body }),
        rule === null ? 'Rule in force.' : 'Rule changed.',
      ),
    )
  }
  const remove = (id: string) =>
    void run(
      () => api.call(isGrant ? deletePolicyGrant : deletePolicyRule, { params: { id }, query: asReason(reason) }),
      isGrant ? 'Grant ended.' : 'Rule deleted.',
    )
  const curl = () => {
    if (Object.keys(faults).length > 0) tell('Some fields are not filled in yet; the command has them empty.')
    const origin = window.location.origin
    if (isGrant)
      return rule === null
        ? curlOf(origin, createPolicyGrant, { body: grantOf(draft) })
        : curlOf(origin, updatePolicyGrant, { params: { id: rule.id }, body: grantOf(draft) })
    return rule === null
      ? curlOf(origin, createPolicyRule, { body: inputOf(draft) })
      : curlOf(origin, updatePolicyRule, { params: { id: rule.id }, body: inputOf(draft) })
  }

  return (
    <form
      ref={form}
      className={classes.editor}
      aria-label={rule === null ? `New ${thing}` : `Change the ${thing}`}
      onSubmit={(event) => {
        event.preventDefault()
        if (!deleting) save()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault()
          if (!deleting) save()
        }
      }}
    >
      <header className={classes.head}>
        <h2>{rule === null ? `New ${thing}` : isGrant ? 'Grant' : 'Rule'}</h2>
        <MoreMenu label="More about this" curl={curl} />
      </header>
      <div className={classes.body}>
        {rule === null ? null : <Origin rule={rule} />}
        {deleting ? null : (
          // A reader sees the same fields, and can not change them.
          <fieldset className={classes.plain} disabled={!canWrite || isStored}>
            <RuleFields
              draft={draft}
              change={(part) => setDraft((old) => ({ ...old, ...part }))}
              faults={tried ? faults : quietly(faults, draft)}
              isGrant={isGrant}
              mayOverride={session.phase === 'in' && session.profile.account.userProfile === 10}
            />
          </fieldset>
        )}
      </div>
      <footer className={classes.foot}>
        <PreviewPanel
          draft={canWrite ? change : null}
          waiting={
            !canWrite
              ? 'You may read rules; changing them takes a Manager.'
              : isSame
                ? 'Nothing is changed yet.'
                : 'What this would change is shown here as soon as it says which devices and which hosts.'
          }
        />
        {canWrite ? <DraftTest draft={change} /> : null}
        {deleting && needsReason && !isStored ? (
          <TextInput
            size="xs"
            label="Reason"
            required
            maxLength={200}
            value={reason}
            placeholder="Why these devices may be used"
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        ) : null}
        {failure === null ? null : <ErrorState failure={failure} inline />}
        {isStored ? (
          <Group justify="flex-end">
            <Button size="xs" variant="default" onClick={close} autoFocus>
              Close
            </Button>
          </Group>
        ) : canWrite ? (
          <Group justify="space-between" gap="sm">
            <span>
              {rule !== null && !deleting ? (
                <Button size="xs" variant="default" onClick={() => setDeleting(true)}>
                  {isGrant ? 'End now…' : 'Delete…'}
                </Button>
              ) : null}
            </span>
            {rule !== null && deleting ? (
              <Group key="delete" gap="sm">
                <Button size="xs" variant="default" onClick={() => setDeleting(false)} autoFocus>
                  Keep it
                </Button>
                <Button
                  size="xs"
                  color="red"
                  loading={busy}
                  // Only the preview says whether the deletion allows devices.
                  disabled={preview === undefined || isStale || (needsReason && reason.trim() === '')}
                  onClick={() => remove(rule.id)}
                >
                  {needsApprover ? 'Request approval' : isGrant ? 'End the grant' : 'Delete the rule'}
                </Button>
              </Group>
            ) : (
              <Group key="save" gap="sm">
                <Button size="xs" variant="default" onClick={close}>
                  Cancel
                </Button>
                <Button size="xs" type="submit" loading={busy} title="Ctrl Enter">
                  {needsApprover ? 'Request approval' : rule === null ? `Save the ${thing}` : 'Save'}
                </Button>
              </Group>
            )}
          </Group>
        ) : null}
      </footer>
    </form>
  )
}

/** Before the first try, only what is written wrongly is said, not what is still empty. */
const quietly = (faults: ReturnType<typeof faultsOf>, draft: RuleDraft) =>
  Object.fromEntries(
    Object.entries(faults).filter(
      ([field]) => field in draft && field !== 'reason' && draft[field as keyof RuleDraft] !== '',
    ),
  )
