import { Button, NativeSelect, NumberInput, Switch, TagsInput, TextInput } from '@mantine/core'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Note, Row, Stack, StickyFoot } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { connectionPlatforms, getHashtags } from '#features/contract.ts'
import { NewlyAllowed } from '#features/policy/console/shared/NewlyAllowed.tsx'
import { CredentialFields } from './CredentialFields.tsx'
import { platformLabels } from './labels.ts'
import { strings } from './strings.ts'
import { TestSteps } from './TestSteps.tsx'
import { type ConnectionEditing, type ConnectionFormProps, useConnectionForm } from './useConnectionForm.ts'

const platforms = connectionPlatforms.map((value) => ({ value, label: platformLabels[value] }))

interface PartProps {
  form: ConnectionEditing
}

/** Name, port and operating system. */
const ComputerFields = ({ form: { before, draft, change, defaults, errorOf } }: PartProps) => (
  <Row gap={12} align="start">
    <TextInput
      label={strings.hostName}
      description={strings.nameOrAddress}
      flex={1}
      maxLength={255}
      autoComplete="off"
      spellCheck={false}
      data-autofocus={before === null || undefined}
      value={draft.computerName}
      error={errorOf('computerName')}
      onChange={(event) => change({ computerName: event.currentTarget.value })}
    />
    <NumberInput
      label={strings.port}
      description={strings.portHelp}
      w={130}
      min={1}
      max={65_535}
      allowDecimal={false}
      placeholder={defaults === undefined ? '' : strings.defaultValue({ value: defaults.port })}
      value={draft.port}
      error={errorOf('port')}
      onChange={(port) => change({ port })}
    />
    <NativeSelect
      label={strings.systemColumn}
      description={strings.operatingSystem}
      w={130}
      data={platforms}
      value={draft.platform}
      error={errorOf('platform')}
      onChange={(event) => {
        const chosen = event.currentTarget.value
        change({ platform: connectionPlatforms.find((one) => one === chosen) ?? 'auto' })
      }}
    />
  </Row>
)

const HostFields = ({ form: { draft, change, errorOf } }: PartProps) => {
  const tags = useRead(['tags'], getHashtags)
  return (
    <>
      <TagsInput
        label={strings.tags}
        placeholder={draft.hashtags.length === 0 ? strings.none : ''}
        data={(tags.data ?? []).map(({ name }) => name)}
        maxTags={100}
        value={draft.hashtags}
        error={errorOf('hashtags')}
        onChange={(hashtags) => change({ hashtags })}
      />
      <TextInput
        label={strings.hostKey}
        description={strings.hostKeyHelp}
        spellCheck={false}
        value={draft.hostKeyFingerprint}
        error={errorOf('hostKeyFingerprint')}
        onChange={(event) => change({ hostKeyFingerprint: event.currentTarget.value })}
      />
      <Switch
        label={strings.overrideDefaults}
        checked={draft.isOverrideDefaults}
        onChange={(event) => change({ isOverrideDefaults: event.currentTarget.checked })}
      />
    </>
  )
}

const OwnCredentials = ({ form: { before, draft, change, defaults, errorOf } }: PartProps) => (
  <CredentialFields
    draft={draft}
    stored={{
      password: before?.hasPassword === true,
      privateKey: before?.hasPrivateKey === true,
      passphrase: before?.hasPassphrase === true,
    }}
    onChange={change}
    errorOf={errorOf}
    placeholders={{
      userName: strings.none,
      intervalMinutes: defaults === undefined ? '' : strings.defaultValue({ value: defaults.intervalMinutes }),
    }}
  />
)

const Foot = ({ form, close }: PartProps & Pick<ConnectionFormProps, 'close'>) => {
  const { before, status, test, isStored, busy } = form
  return (
    <StickyFoot>
      <DialogActions
        close={close}
        {...(before === null ? {} : { closeLabel: strings.close })}
        action={before === null ? strings.add : form.opens === null ? strings.save : strings.saveAndAllow}
        busy={busy}
        isStored={isStored}
        startsAt="form"
        takesFocus={form.opens !== null}
        aside={
          <>
            <MoreMenu label={strings.moreActions} curl={form.curl} />
            <Note grow role="status">
              {status}
            </Note>
          </>
        }
      >
        <Button variant="default" onClick={test.busy ? test.stop : form.runTest}>
          {test.busy ? strings.stopTest : strings.runTest}
        </Button>
      </DialogActions>
    </StickyFoot>
  )
}

/** Adds or changes an agentless host, and tests its connection. */
export const ConnectionForm = (props: ConnectionFormProps) => {
  const form = useConnectionForm(props)
  const { test } = form
  return (
    <form onSubmit={submits(form.save)}>
      <Stack gap={8}>
        <ComputerFields form={form} />
        <HostFields form={form} />
        {form.draft.isOverrideDefaults ? <OwnCredentials form={form} /> : null}
        <ErrorState
          failure={form.saveFailure}
          {...(form.before === null ? {} : { resend: () => void form.save() })}
          inline
        />
        {form.isStored ? null : <NewlyAllowed opens={form.opens} reason="" setReason={() => {}} />}
        <ErrorState failure={form.testFailure} inline />
        {test.test === null ? null : <TestSteps test={test.test} isPolling={form.isPolling} />}
        <Foot form={form} close={props.close} />
      </Stack>
    </form>
  )
}
