import { ActionIcon, Select, TextInput } from '@mantine/core'
import { type ReportListName, reportFilterKinds } from '@portcullis/contract'
import { Icon } from '../../ui/icons.tsx'
import classes from './reports.module.css'
import { strings } from './strings.ts'

/** How a filter of each kind is written. */
const forms: Readonly<Record<string, string>> = {
  text: strings.containsIgnoringCase,
  enum: strings.oneOfItsValuesOrSeveral,
  number: strings.nNNOrSeveralWith,
  time: strings.n20310504OrFromTo,
  tags: strings.tagsWithCommasAnyOfThem,
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
  if (Object.keys(filters).length === 0) return <p className={classes.hint}>{strings.thisListIsAsItIs}</p>
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
              aria-label={strings.removeTheFilterName({ name })}
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
          aria-label={strings.addAFilter}
          placeholder={Object.keys(value).length === 0 ? strings.allRowsAddAFilter : strings.addAFilter2}
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
