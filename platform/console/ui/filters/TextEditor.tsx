import { Autocomplete, Button, Text, TextInput } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { ListFilter } from '../../../contract/list.ts'
import { plainText } from '../../lib/device-text.ts'
import type { Suggestion } from '../../lib/filter-values.ts'
import { useServices } from '../../lib/services.tsx'
import { Row } from '../layout/layout.tsx'
import type { EditorProps } from './filter.ts'
import { strings } from './strings.ts'

interface FieldProps {
  label: string
  text: string
  setText: (text: string) => void
  maxLength: number
  error: string | null
}

const common = ({ label, text, maxLength, error }: Omit<FieldProps, 'setText'>) =>
  ({ size: 'xs', label, value: text, maxLength, error, 'data-autofocus': true }) as const

const Option = ({ value, label, devices }: Suggestion) => (
  <Row gap={8} wrap={false} style={{ width: '100%' }}>
    <Text size="xs" span truncate style={{ flex: 1 }}>
      {plainText(value)}
      {label === '' ? null : (
        <Text size="xs" span c="dimmed">
          {` ${plainText(label)}`}
        </Text>
      )}
    </Text>
    <Text size="xs" span c="dimmed">
      {strings.deviceCount({ count: devices })}
    </Text>
  </Row>
)

/** A text field that suggests values of the fleet. Any other text stays possible. */
const SuggestField = (
  props: FieldProps & { kind: NonNullable<ListFilter['suggests']>; pick: (value: string) => void },
) => {
  const text = useDeferredValue(props.text.trim())
  const { filterValues } = useServices()
  const found = useQuery({
    queryKey: ['suggestions', props.kind, text],
    queryFn: () => filterValues.suggest(props.kind, text),
    placeholderData: keepPreviousData,
  })
  const options = new Map((found.data ?? []).map((one) => [one.value, one]))
  return (
    <Autocomplete
      {...common(props)}
      w={300}
      data={[...options.keys()]}
      filter={({ options: all }) => all}
      renderOption={({ option }) => {
        const known = options.get(option.value)
        return known === undefined ? plainText(option.value) : <Option {...known} />
      }}
      description={found.data !== undefined && options.size === 0 ? strings.nothingSuggested : undefined}
      onChange={props.setText}
      onOptionSubmit={props.pick}
      maxDropdownHeight={260}
      // The popover of the filter closes on a click outside of itself.
      comboboxProps={{ withinPortal: false }}
    />
  )
}

/** The editor of a text. It refuses what the server would refuse. */
export const TextEditor = ({ filter, value, change, close }: EditorProps) => {
  const [text, setText] = useState(value ?? '')
  const [error, setError] = useState<string | null>(null)
  const apply = (next: string) => {
    const { accepts } = filter
    if (next !== '' && accepts !== undefined && !new RegExp(accepts.form).test(next)) return setError(accepts.hint)
    change(next === '' ? null : next)
    close()
  }
  const field = {
    label:
      filter.kind === 'query'
        ? filter.label
        : (filter.kind === 'id' ? strings.is : strings.contains)({ label: filter.label }),
    ...{ text, maxLength: filter.maxLength, error },
    setText: (next: string) => {
      setError(null)
      setText(next)
    },
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        apply(text.trim())
      }}
    >
      <Row align="end" wrap>
        {filter.suggests === undefined ? (
          <TextInput {...common(field)} onChange={(event) => field.setText(event.currentTarget.value)} />
        ) : (
          <SuggestField {...field} kind={filter.suggests} pick={apply} />
        )}
        <Button size="xs" type="submit">
          {strings.apply}
        </Button>
      </Row>
    </form>
  )
}
