import { Select } from '@mantine/core'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { getHashtags } from '#features/contract.ts'
import { strings } from './strings.ts'

export interface TagPickerProps {
  label: string
  value: string
  onChange: (tag: string) => void
  error?: string | undefined
  clearable?: boolean
  /** Tags to show first. */
  first?: readonly string[]
}

/** Chooses one tag, with the number of hosts that have it. */
export const TagPicker = ({ label, value, onChange, error, clearable = false, first = [] }: TagPickerProps) => {
  const tags = useRead(['tags'], getHashtags)
  const rank = (name: string) => (first.includes(name) ? 0 : 1)
  const known = (tags.data ?? []).toSorted((one, other) => rank(one.name) - rank(other.name))
  const isKnown = known.some(({ name }) => name === value)
  return (
    <Select
      label={label}
      size="xs"
      searchable
      clearable={clearable}
      placeholder={strings.tagPlaceholder}
      nothingFoundMessage={strings.noSuchTag}
      data={[
        ...(value === '' || isKnown ? [] : [{ value, label: strings.deletedTag({ tag: value }) }]),
        ...known.map(({ name, agentsCount }) => ({
          value: name,
          label: strings.tagWithHosts({ tag: name, count: agentsCount }),
        })),
      ]}
      value={value === '' ? null : value}
      onChange={(tag) => onChange(tag ?? '')}
      error={error}
      comboboxProps={{ withinPortal: true }}
      maxDropdownHeight={220}
    />
  )
}
