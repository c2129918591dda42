import { ActionIcon, Select, TextInput } from '@mantine/core'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Columns, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type ReportListName, reportTraits } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Describes how to write a filter of each kind. */
const forms: Readonly<Record<string, string>> = {
  text: strings.formText,
  enum: strings.formEnum,
  number: strings.formNumber,
  time: strings.formTime,
  tags: strings.formTags,
}

export interface FilterFieldsProps {
  list: ReportListName
  value: Readonly<Record<string, string>>
  onChange: (value: Readonly<Record<string, string>>) => void
  fault: (member: string) => string | undefined
}

/** The filters of a list, by name. */
export const FilterFields = ({ list, value, onChange, fault }: FilterFieldsProps) => {
  const { filters } = reportTraits[list]
  const unused = filters.filter(({ name }) => !(name in value))
  if (filters.length === 0)
    return (
      <Text as="p" quiet tiny>
        {strings.noFilters}
      </Text>
    )
  const set = (name: string, text: string) => onChange({ ...value, [name]: text })
  return (
    <>
      {Object.entries(value).map(([name, text]) => {
        const { kind = 'text', label = name, choices: ofId } = filters.find((filter) => filter.name === name) ?? {}
        const choices = kind === 'boolean' ? ['true', 'false'] : undefined
        const field = {
          'aria-label': label,
          error: fault(name),
          placeholder: ofId === undefined ? (forms[kind] ?? '') : strings.formId,
        }
        return (
          <Columns key={name} template="minmax(120px, 200px) minmax(0, 1fr) 28px" gap={8} align="center">
            <span>{label}</span>
            {choices === undefined ? (
              <TextInput
                {...field}
                value={text}
                maxLength={2048}
                onChange={(event) => set(name, event.currentTarget.value)}
              />
            ) : (
              <Select
                {...field}
                data={choices}
                value={text === '' ? null : text.toLowerCase()}
                allowDeselect={false}
                onChange={(chosen) => set(name, chosen ?? '')}
              />
            )}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={strings.removeFilter({ name: label })}
              onClick={() => {
                const { [name]: _gone, ...rest } = value
                onChange(rest)
              }}
            >
              <Icon name="close" />
            </ActionIcon>
          </Columns>
        )
      })}
      {unused.length === 0 ? null : (
        <Select
          key={Object.keys(value).join(' ')}
          aria-label={strings.addFilter}
          placeholder={Object.keys(value).length === 0 ? strings.allRowsAddFilter : strings.addFilterMenu}
          searchable
          data={unused.map(({ name, label }) => ({ value: name, label }))}
          value={null}
          onChange={(name) => {
            if (name !== null)
              set(name, filters.some((filter) => filter.name === name && filter.kind === 'boolean') ? 'true' : '')
          }}
        />
      )}
    </>
  )
}
