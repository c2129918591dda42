import { NativeSelect, NumberInput, Switch, Textarea, TextInput } from '@mantine/core'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { CertificatesField } from '@portcullis/platform/console/ui/form/CertificatesField.tsx'
import type { FieldFrame } from '@portcullis/platform/console/ui/form/field.ts'
import { PressButton } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { ConfigItem } from '#features/contract.ts'
import { TagsField } from '#features/tags/console/shared/TagsField.tsx'
import { ColorField } from './ColorField.tsx'
import { defaultText } from './draft.ts'
import { ImageField } from './ImageField.tsx'
import { Prose } from './Prose.tsx'
import { SecretField } from './SecretField.tsx'
import { strings } from './strings.ts'

export interface SettingFieldProps {
  name: string
  item: ConfigItem
  value: string
  error: string | undefined
  onChange: (text: string) => void
  /** For a secret: the server has one. */
  isStored: boolean
  /** For a secret: saving removes it. */
  isRemoved: boolean
  onRemove: (removed: boolean) => void
}

const choiceLabels: Readonly<Record<string, string>> = messages({
  none: 'None (unencrypted)',
  starttls: 'STARTTLS',
  tls: 'TLS',
  bare: 'Token only',
  bearer: '“Bearer” and token',
})

// People read these values letter by letter.
const monospaced = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } }
const isCode: ReadonlySet<string> = new Set(['dn', 'bindName', 'filter', 'attribute'])

/** What a setting means. For a number, also its default, and a button to go back to it. */
const Meaning = ({ item, value, reset }: { item: ConfigItem; value: string; reset: () => void }) => {
  const standard = defaultText(item)
  if (standard === null) return <Prose text={item.description} />
  return (
    <>
      <Prose text={item.description} /> {strings.defaultValue({ value: standard })}{' '}
      {Number(value) === Number(item.default) && value !== '' ? null : (
        <PressButton isLink aria-label={strings.resetOf({ label: item.label })} onClick={reset}>
          {strings.reset}
        </PressButton>
      )}
    </>
  )
}

/** The field of one item, by its kind. */
export const SettingField = ({
  name,
  item,
  value,
  error,
  onChange,
  isStored,
  isRemoved,
  onRemove,
}: SettingFieldProps) => {
  const frame: FieldFrame = {
    name,
    label: item.label,
    description: <Meaning item={item} value={value} reset={() => onChange(item.default)} />,
    error,
  }
  switch (item.kind) {
    case 'boolean':
      return (
        <Switch
          {...frame}
          checked={value === 'true'}
          onChange={(event) => onChange(String(event.currentTarget.checked))}
        />
      )
    case 'choice':
      return (
        <NativeSelect
          {...frame}
          data={(item.choices ?? []).map((choice) => ({ value: choice, label: choiceLabels[choice] ?? choice }))}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'integer':
    case 'share':
      return (
        <NumberInput
          {...frame}
          {...(item.kind === 'share'
            ? { min: 0, max: 1, step: 0.01 }
            : { min: item.range?.[0] ?? 0, max: item.range?.[1] ?? Number.MAX_SAFE_INTEGER, allowDecimal: false })}
          clampBehavior="none"
          maw={240}
          styles={{ description: { width: 'max-content', maxWidth: 'min(560px, calc(100vw - 92px))' } }}
          placeholder={item.default}
          value={value}
          onChange={(number) => onChange(String(number))}
        />
      )
    case 'lines':
      return (
        <Textarea
          {...frame}
          rows={4}
          maxLength={item.max}
          resize="vertical"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'certificates':
      return <CertificatesField {...frame} max={item.max} value={value} onChange={onChange} />
    case 'secret':
      return (
        <SecretField
          {...frame}
          max={item.max}
          value={value}
          onChange={onChange}
          isStored={isStored}
          isRemoved={isRemoved}
          onRemove={onRemove}
        />
      )
    case 'tags':
      return <TagsField {...frame} value={value} onChange={onChange} />
    case 'color':
      return <ColorField {...frame} value={value} onChange={onChange} />
    case 'image':
      return <ImageField {...frame} value={value} onChange={onChange} />
    default:
      return (
        <TextInput
          {...frame}
          maxLength={item.max}
          autoComplete="off"
          spellCheck={false}
          placeholder={item.default}
          {...(isCode.has(item.kind) ? { styles: monospaced } : {})}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
  }
}
