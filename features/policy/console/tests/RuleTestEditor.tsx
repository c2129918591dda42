import { Button, MultiSelect, SegmentedControl, Switch, TextInput } from '@mantine/core'
import { fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { bindText } from '@portcullis/platform/console/ui/form/bind-text.ts'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Columns, DrawerBody, Note, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { policyKinds, type RuleTest, type RuleTestBody } from '#features/contract.ts'
import { ModelName, ModelSearch } from '../ModelSearch.tsx'
import { Hosts } from '../RuleFields.tsx'
import type { PolicyKind } from '../shared/rule-draft.ts'
import { strings } from './strings.ts'
import { useRuleTest } from './useRuleTest.ts'

type TextField = 'name' | 'vid' | 'pid' | 'serial' | 'fingerprint'

const trimmed = (text: string) => text.trim()

const Fields = ({ editing }: { editing: ReturnType<typeof useRuleTest> }) => {
  const { draft, edit, failure } = editing
  const text = bindText(draft, edit, (name: TextField) => fieldMessage(failure, name))
  return (
    <>
      <TextInput size="xs" label={strings.name} placeholder={strings.nameHint} maxLength={80} {...text('name')} />
      <Text as="span" small>
        {strings.expectedDecision}
      </Text>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={strings.expectedDecision}
        value={draft.expected}
        onChange={(expected) => edit({ expected: expected === 'block' ? 'block' : 'allow' })}
        data={[
          { value: 'allow', label: strings.allow },
          { value: 'block', label: strings.block },
        ]}
      />
      <fieldset>
        <legend>{strings.device}</legend>
        <Stack gap={8}>
          <ModelSearch onChosen={(vid, pid) => edit({ vid, pid })} />
          <Columns template="1fr 1fr" gap={8} align="start">
            <TextInput size="xs" label={strings.vendorId} placeholder="0781" maxLength={4} {...text('vid', trimmed)} />
            <TextInput size="xs" label={strings.productId} placeholder="5571" maxLength={4} {...text('pid', trimmed)} />
          </Columns>
          <Text as="p" quiet tiny aria-live="polite">
            <ModelName vid={draft.vid} pid={draft.pid} />
          </Text>
          <Columns template="1fr 1fr" gap={8} align="start">
            <TextInput size="xs" label={strings.serialNumber} placeholder={strings.noSerial} {...text('serial')} />
            <TextInput
              size="xs"
              label={strings.fingerprint}
              placeholder={strings.none}
              maxLength={32}
              {...text('fingerprint', trimmed)}
            />
          </Columns>
          <MultiSelect
            size="xs"
            label={strings.kinds}
            description={strings.kindsHint}
            placeholder={draft.kinds.length === 0 ? strings.chooseKind : undefined}
            data={[...policyKinds]}
            value={[...draft.kinds]}
            onChange={(kinds) => edit({ kinds: kinds as PolicyKind[] })}
            searchable
            error={fieldMessage(failure, 'kinds')}
          />
          <Switch
            size="xs"
            label={strings.isAttackTool}
            checked={draft.isAttackTool}
            onChange={(event) => edit({ isAttackTool: event.currentTarget.checked })}
          />
        </Stack>
      </fieldset>
      <Hosts
        draft={draft}
        change={edit}
        faults={{ host: fieldMessage(failure, 'host'), tag: fieldMessage(failure, 'tag') }}
        allLabel={strings.hostWithoutTags}
      />
    </>
  )
}

export interface RuleTestEditorProps {
  /** The test to edit; null for a new one. */
  test: RuleTest | null
  /** Initial values of a new test. */
  start: RuleTestBody | null
  canWrite: boolean
  close: () => void
}

/** Adds, edits and deletes a rule test. */
export const RuleTestEditor = ({ test, start, canWrite, close }: RuleTestEditorProps) => {
  const editing = useRuleTest(test, start, close)
  const { busy, failure, isReady, save, askDelete } = editing
  const title = test === null ? strings.addTest : strings.editTest
  return (
    <Stack
      as="form"
      gap={0}
      style={{ height: '100%' }}
      aria-label={title}
      onSubmit={submits(() => {
        if (isReady && canWrite && !busy) void save()
      })}
    >
      <Row as="header" pad="12px 80px 8px 16px">
        <h2>{title}</h2>
      </Row>
      <DrawerBody gap={14}>
        {test === null ? null : (
          <Note>
            {strings.changedByAt({
              user: <DeviceText key="user" value={test.changedBy} />,
              time: <Time key="time" value={test.changedAt} form="local" />,
            })}
          </Note>
        )}
        <Text as="fieldset" style={{ border: 0 }} disabled={!canWrite}>
          <Stack gap={14}>
            <Fields editing={editing} />
          </Stack>
        </Text>
        <ErrorState failure={failure} inline />
        {canWrite ? (
          <DialogActions
            size="xs"
            close={close}
            action={test === null ? strings.addTest : strings.saveTest}
            busy={busy}
            isReady={isReady}
            startsAt="form"
            aside={
              test === null ? undefined : (
                <Button size="xs" variant="default" onClick={() => askDelete(test)}>
                  {strings.askDelete}
                </Button>
              )
            }
          />
        ) : null}
      </DrawerBody>
    </Stack>
  )
}
