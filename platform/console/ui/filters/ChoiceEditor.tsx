import { Radio, TextInput } from '@mantine/core'
import { useDeferredValue, useState } from 'react'
import type { Choices } from '../../../contract/filters.ts'
import { DeviceText } from '../DeviceText.tsx'
import { Stack } from '../layout/layout.tsx'
import type { EditorProps } from './filter.ts'
import { strings } from './strings.ts'
import { useChoices } from './useChoices.ts'

/** The editor of a filter by ID, with a choice of names. */
export const ChoiceEditor = ({ filter, kind, value, change, close }: EditorProps & { kind: Choices }) => {
  const [typed, setTyped] = useState('')
  const { data } = useChoices(kind, useDeferredValue(typed))
  return (
    <Stack gap={8} style={{ width: 300 }}>
      <TextInput
        size="xs"
        aria-label={strings.findByName}
        placeholder={strings.findByName}
        value={typed}
        maxLength={filter.maxLength}
        data-autofocus
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <Stack gap={6} scroll style={{ maxHeight: 240 }}>
        {(data ?? []).map((one) => (
          <Radio
            key={one.value}
            size="xs"
            name={filter.name}
            label={<DeviceText value={one.name} />}
            checked={value === one.value}
            onChange={() => {
              change(one.value)
              close()
            }}
          />
        ))}
        {data?.length === 0 ? <span>{strings.nothingFound}</span> : null}
      </Stack>
    </Stack>
  )
}
