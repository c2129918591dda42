import { TagsInput } from '@mantine/core'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import type { FieldFrame } from '@portcullis/platform/console/ui/form/field.ts'
import { strings } from '@portcullis/platform/console/ui/form/strings.ts'
import { getHashtags } from '#features/contract.ts'

export interface TagsFieldProps extends FieldFrame {
  /** Comma list. */
  value: string
  onChange: (text: string) => void
}

/** A list of tags, stored as comma-separated text. */
export const TagsField = ({ value, onChange, ...frame }: TagsFieldProps) => {
  const tags = useRead(['tags'], getHashtags)
  const chosen = value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return (
    <TagsInput
      {...frame}
      placeholder={chosen.length === 0 ? strings.nothing : ''}
      data={(tags.data ?? []).map(({ name }) => name)}
      splitChars={[',']}
      value={chosen}
      onChange={(names) => onChange(names.join(','))}
    />
  )
}
