import { Button, SegmentedControl, Switch, Textarea, TextInput } from '@mantine/core'
import { bindText } from '@portcullis/platform/console/ui/form/bind-text.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Columns, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { policyKinds } from '#features/contract.ts'
import { ModelName, ModelSearch } from './ModelSearch.tsx'
import { GroupField } from './shared/GroupField.tsx'
import { HostPicker } from './shared/HostPicker.tsx'
import type { DraftFaults, PolicyKind, RuleDraft } from './shared/rule-draft.ts'
import { TagPicker } from './shared/TagPicker.tsx'
import { strings } from './strings.ts'

export interface RuleFieldsProps {
  draft: RuleDraft
  change: (change: Partial<RuleDraft>) => void
  /** Faults to show now. */
  faults: DraftFaults
  isGrant: boolean
  /** Only Administrators can allow a known attack tool. */
  mayOverride: boolean
}

type PartProps = Pick<RuleFieldsProps, 'draft' | 'change' | 'faults'>

const Kinds = ({ draft, change }: Pick<RuleFieldsProps, 'draft' | 'change'>) => {
  const toggle = (kind: PolicyKind) =>
    change({
      kinds: draft.kinds.includes(kind) ? draft.kinds.filter((one) => one !== kind) : [...draft.kinds, kind],
    })
  return (
    <>
      <Row align="start" wrap gap={6} role="group" aria-label={strings.kinds}>
        {policyKinds.map((kind) => (
          <Button
            key={kind}
            size="compact-sm"
            radius="xl"
            variant={draft.kinds.includes(kind) ? 'light' : 'default'}
            leftSection={draft.kinds.includes(kind) ? <Icon name="check" size={12} /> : null}
            aria-pressed={draft.kinds.includes(kind)}
            onClick={() => toggle(kind)}
          >
            {kind}
          </Button>
        ))}
      </Row>
      <Text as="p" quiet tiny>
        {draft.effect === 'allow' ? strings.allowKindsHint : strings.denyKindsHint}
      </Text>
    </>
  )
}

type TextField = 'vid' | 'pid' | 'serial' | 'fingerprint' | 'expires' | 'reason'

const trimmed = (text: string) => text.trim()
const textOf = ({ draft, change, faults }: PartProps) => bindText(draft, change, (name: TextField) => faults[name])

const Devices = ({ draft, change, faults, text }: PartProps & { text: ReturnType<typeof textOf> }) => (
  <fieldset>
    <legend>{strings.devices}</legend>
    <ModelSearch onChosen={(vid, pid) => change({ vid, pid })} />
    <Columns template="1fr 1fr" gap={8} align="start">
      <TextInput size="xs" label={strings.vendorId} placeholder="0781" maxLength={4} {...text('vid', trimmed)} />
      <TextInput
        size="xs"
        label={strings.productId}
        placeholder={strings.any}
        maxLength={4}
        {...text('pid', trimmed)}
      />
    </Columns>
    <Text as="p" quiet tiny aria-live="polite">
      <ModelName vid={draft.vid} pid={draft.pid} />
    </Text>
    <Columns template="1fr 1fr" gap={8} align="start">
      <TextInput
        size="xs"
        label={strings.serialNumber}
        placeholder={draft.hasNoSerial ? strings.noSerial : strings.any}
        maxLength={255}
        {...text('serial')}
      />
      <TextInput
        size="xs"
        label={strings.fingerprint}
        placeholder={strings.any}
        maxLength={32}
        {...text('fingerprint', trimmed)}
      />
    </Columns>
    <Kinds draft={draft} change={change} />
    {faults.device === undefined ? null : (
      <Text as="p" tiny tone="red" role="alert">
        {faults.device}
      </Text>
    )}
  </fieldset>
)

/** The hosts that a rule applies to. */
export const Hosts = ({
  draft,
  change,
  faults,
  allLabel = strings.allHosts,
}: {
  draft: Pick<RuleDraft, 'scope' | 'host' | 'tag'>
  change: (part: Partial<Pick<RuleDraft, 'scope' | 'host' | 'tag'>>) => void
  faults: Partial<Record<'scope' | 'host' | 'tag', string | undefined>>
  /** Label of the choice without a host and a tag. */
  allLabel?: string
}) => (
  <fieldset>
    <legend>{strings.scope}</legend>
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label={strings.scope}
      value={draft.scope}
      onChange={(scope) => change({ scope: scope === 'host' || scope === 'tag' ? scope : 'all' })}
      data={[
        { value: 'host', label: strings.oneHost },
        { value: 'tag', label: strings.hostsWithATag },
        { value: 'all', label: allLabel },
      ]}
    />
    {faults.scope === undefined ? null : (
      <Text as="p" tiny tone="red" role="alert">
        {faults.scope}
      </Text>
    )}
    {draft.scope === 'host' ? (
      <HostPicker
        label={strings.hostName}
        value={draft.host}
        onChange={(host) => change({ host })}
        error={faults.host}
      />
    ) : null}
    {draft.scope === 'tag' ? (
      <TagPicker label={strings.tag} value={draft.tag} onChange={(tag) => change({ tag })} error={faults.tag} />
    ) : null}
  </fieldset>
)

/** The fields of a rule or grant. */
export const RuleFields = ({ draft, change, faults, isGrant, mayOverride }: RuleFieldsProps) => {
  const text = textOf({ draft, change, faults })
  return (
    <Stack gap={14}>
      {isGrant ? null : (
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label={strings.effect}
          value={draft.effect}
          onChange={(effect) => change({ effect: effect === 'deny' ? 'deny' : 'allow' })}
          data={[
            { value: 'allow', label: strings.allow },
            { value: 'deny', label: strings.deny },
          ]}
        />
      )}
      <Devices draft={draft} change={change} faults={faults} text={text} />
      <Hosts draft={draft} change={change} faults={faults} />
      <TextInput
        size="xs"
        type="datetime-local"
        label={isGrant ? strings.expires : strings.optionalEnd}
        {...text('expires')}
      />
      <Textarea
        size="xs"
        label={strings.reason}
        placeholder={strings.reasonHint}
        description={strings.reasonDescription}
        maxLength={200}
        rows={2}
        {...text('reason')}
      />
      {isGrant ? null : <GroupField value={draft.group} onChange={(group) => change({ group })} />}
      {draft.effect === 'allow' ? (
        <Switch
          size="xs"
          label={strings.override}
          description={mayOverride ? strings.overrideHint : strings.overrideNeedsAdmin}
          disabled={!mayOverride}
          checked={draft.overrideAttackTool}
          onChange={(event) => change({ overrideAttackTool: event.currentTarget.checked })}
        />
      ) : null}
    </Stack>
  )
}
