import { Button, Checkbox, Modal, TextInput } from '@mantine/core'
import { CallFailure, isStoredRequest } from '@portcullis/platform/console/lib/problem.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { ReasonField } from '@portcullis/platform/console/ui/form/ReasonField.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { Panel, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { useState } from 'react'
import { GradeList } from '#features/commands/console/shared/arming/GradeList.tsx'
import { RevertSelect } from '#features/commands/console/shared/arming/RevertSelect.tsx'
import { BulkDecideForm } from '#features/policy/console/shared/BulkDecideDialog.tsx'
import type { BulkDevice } from '#features/policy/console/shared/bulk-decide.ts'
import { strings } from '../../strings.ts'
import { ArmEffect } from './ArmEffect.tsx'
import { bulkLabels, previewLines, selected } from './bulk.ts'
import { type BulkActionProps, type BulkQuestion, type BulkState, useBulkAction } from './useBulkAction.ts'

interface PartProps {
  state: BulkState
}

const WaitingForApprover = ({ message, close }: { message: string; close: () => void }) => (
  <Stack>
    <p>
      <strong>{strings.waitingForApprover}</strong>
    </p>
    <p>{message}</p>
    <Row justify="end" wrap>
      <LinkButton to="/policy/requests" variant="default" onClick={close}>
        {strings.openRequest}
      </LinkButton>
      <Button onClick={close} data-autofocus>
        {strings.close}
      </Button>
    </Row>
  </Stack>
)

/** The number of hosts and the effects. */
const Effect = ({
  action,
  state: { preview, count, labels, applyToPresent },
}: PartProps & Pick<BulkQuestion, 'action'>) => {
  const { data } = preview
  return (
    <>
      <Text as="p" style={{ minHeight: 40 }} aria-busy={preview.isFetching}>
        {data === undefined
          ? strings.previewLoading
          : action === 'free' && data.unchanged > 0
            ? strings.changesPart({
                changed: count - data.unchanged,
                hosts: <strong key="hosts">{strings.hostCount({ count })}</strong>,
                effect: labels.effect,
              })
            : count === selected(data)
              ? strings.effectOn({
                  hosts: <strong key="hosts">{strings.hostCount({ count })}</strong>,
                  effect: labels.effect,
                })
              : strings.effectOnPart({
                  hosts: <strong key="hosts">{strings.hostCount({ count })}</strong>,
                  selected: selected(data),
                  effect: labels.effect,
                })}
      </Text>
      <ErrorState query={preview} inline />
      <Stack as="ul" gap={6} scroll style={{ maxHeight: 260 }} data-stale={preview.isPlaceholderData || undefined}>
        {data === undefined
          ? null
          : previewLines(data, applyToPresent).map(({ text, severity }) => (
              <Row as="li" align="baseline" key={text}>
                <SeverityShape severity={severity ?? 'neutral'} />
                <span>{text}</span>
              </Row>
            ))}
      </Stack>
    </>
  )
}

/** Options of the action. */
const Fields = ({ state, action }: PartProps & Pick<BulkQuestion, 'action'>) => {
  const { preview, count, needsReason, reason, setReason, mustType, typed, setTyped } = state
  const { applyToPresent, setApplyToPresent, revertMinutes, setRevertMinutes } = state
  const { data } = preview
  return (
    <>
      {action === 'arm' ? (
        <>
          <Checkbox
            size="sm"
            label={strings.applyToAttached}
            description={strings.applyToAttachedHint}
            checked={applyToPresent}
            onChange={(event) => setApplyToPresent(event.currentTarget.checked)}
          />
          <RevertSelect value={revertMinutes} decided={data?.revertMinutes} onChange={setRevertMinutes} />
        </>
      ) : null}
      {needsReason ? (
        <ReasonField required value={reason} placeholder={strings.whyDevicesOnHosts} onChange={setReason} />
      ) : null}
      {data?.secondPerson === true ? (
        <Panel as="p" tone="accent" dense>
          {strings.needsApprover}
        </Panel>
      ) : null}
      {mustType ? (
        <TextInput
          label={strings.typeCount({ count })}
          value={typed}
          inputMode="numeric"
          autoComplete="off"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      ) : null}
    </>
  )
}

const Foot = ({ state, isArm, close }: PartProps & Pick<BulkActionProps, 'close'> & { isArm: boolean }) => {
  const { preview, count, opensDevices, mustType, labels, busy } = state
  const { data } = preview
  return (
    <DialogActions
      close={close}
      action={
        data?.secondPerson === true ? strings.requestApproval : isArm ? strings.armCount({ count }) : labels.action
      }
      busy={busy}
      isReady={state.isReady}
      isDangerous={labels.isDangerous === true}
      startsAt={opensDevices ? 'cancel' : mustType ? 'form' : 'action'}
      aside={<MoreMenu curl={state.curl} />}
    />
  )
}

const Body = (props: BulkActionProps) => {
  const { action, close } = props
  const state = useBulkAction(props)
  const { failure } = state
  const [first, setFirst] = useState<readonly BulkDevice[] | null>(null)
  // The approval replaces the form, whose input stays.
  if (first !== null)
    return (
      <Stack gap={10}>
        <h3>{strings.approveFirstTitle}</h3>
        <BulkDecideForm
          effect="allow"
          devices={first}
          done={() => void state.preview.refetch()}
          close={() => setFirst(null)}
        />
      </Stack>
    )
  if (failure instanceof CallFailure && isStoredRequest(failure))
    return <WaitingForApprover message={failure.message} close={close} />
  return (
    <Stack as="form" onSubmit={submits(state.run)}>
      <Effect state={state} action={action} />
      {action === 'arm' ? <GradeList grades={state.preview.data?.grades} /> : null}
      {action === 'arm' && state.preview.data !== undefined ? (
        <ArmEffect preview={state.preview.data} approve={setFirst} />
      ) : null}
      <Fields state={state} action={action} />
      <ErrorState failure={failure} inline />
      <Foot state={state} isArm={action === 'arm'} close={close} />
    </Stack>
  )
}

export interface BulkDialogProps extends Pick<BulkActionProps, 'close' | 'onStart' | 'onDone'> {
  question: BulkQuestion | null
}

/** Confirms a bulk action: number of hosts, hosts left out, and effects, all from a preview of the server. */
export const BulkDialog = ({ question, ...rest }: BulkDialogProps) => (
  <Modal
    opened={question !== null}
    onClose={rest.close}
    size={question?.action === 'arm' ? 'xl' : 'lg'}
    title={question === null ? '' : bulkLabels[question.action].title}
  >
    {question === null ? null : <Body {...question} {...rest} />}
  </Modal>
)
