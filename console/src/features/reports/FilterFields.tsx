import { ActionIcon, Select, TextInput } from '@mantine/core'
import { type ReportListName, reportFilterKinds } from '@portcullis/contract'
import { Icon } from '../../ui/icons.tsx'
import classes from './reports.module.css'

/** How a filter of each kind is written. */
const forms: Readonly<Record<string, string>> = {
  text: 'contains, ignoring case',
  enum: 'one of its values, or several with commas',
  number: 'n, >=n, <=n, or several with commas',
  time: '2031-05-04, or from..to with either end open',
  tags: 'tags, with commas: any of them',
}

export interface FilterFieldsProps {
  list: ReportListName
  value: Readonly<Record<string, string>>
  onChange: (value: Readonly<Record<string, string>>) => void
  fault: (member: string) => string | undefined
}

/** Filters by the names of the list, each with how its kind is written. */
export const FilterFields = ({ list, value, onChange, fault }: FilterFieldsProps) => {
  const filters = reportFilterKinds[list] ?? {}
  const unused = Object.keys(filters).filter((name) => !(name in value))
  if (Object.keys(filters).length === 0)
    return <p className={classes.hint}>This list is as it is: it has no filters.</p>
  const set = (name: string, text: string) => onChange({ ...value, [name]: text })
  return (
    <>
      {Object.entries(value).map(([name, text]) => {
        const kind = filters[name] ?? 'text'
        const choices = kind === 'boolean' ? ['true', 'false'] : undefined
        const field = { 'aria-label': name, error: fault(name), placeholder: forms[kind] ?? '' }
        return (
          <div key={name} className={classes.filter}>
            <code>{name}</code>
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
              aria-label={`Remove the filter ${name}`}
              onClick={() => {
                const { [name]: _gone, ...rest } = value
                onChange(rest)
              }}
            >
              <Icon name="close" />
            </ActionIcon>
          </div>
        )
      })}
      {unused.length === 0 ? null : (
        <Select
          key={Object.keys(value).join(' ')}
          aria-label="Add a filter"
          placeholder={Object.keys(value).length === 0 ? 'All rows. Add a filter…' : 'Add a filter…'}
          searchable
          data={unused}
          value={null}
          onChange={(name) => {
            if (name !== null) set(name, filters[name] === 'boolean' ? 'true' : '')
          }}
        />
      )}
    </>
  )
}
