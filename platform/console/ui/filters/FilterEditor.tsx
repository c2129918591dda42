import { Checkbox, Radio, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, useEffect, useRef, useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../DeviceText.tsx'
import { Stack } from '../layout/layout.tsx'
import { ChoiceEditor } from './ChoiceEditor.tsx'
import { type EditorProps, type Filter, toggled } from './filter.ts'
import { RangeEditor } from './RangeEditor.tsx'
import { strings } from './strings.ts'
import { TextEditor } from './TextEditor.tsx'

const TagsEditor = ({ value, change }: EditorProps) => {
  const [text, setText] = useState('')
  const { filterValues } = useServices()
  const tags = useQuery({ queryKey: ['tags', 'names'], queryFn: filterValues.tags })
  const found = (tags.data ?? []).filter((name) => name.toLowerCase().includes(text.toLowerCase())).slice(0, 40)
  const chosen = (value ?? '').split(',')
  return (
    <Stack gap={8}>
      <TextInput
        size="xs"
        placeholder={strings.findTag}
        value={text}
        data-autofocus
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Stack gap={6} scroll style={{ maxHeight: 240 }}>
        {found.map((name) => (
          <Checkbox
            key={name}
            label={<DeviceText value={name} />}
            checked={chosen.includes(name)}
            onChange={() => change(toggled(value, name))}
          />
        ))}
        {tags.data !== undefined && found.length === 0 ? <span>{strings.noTags}</span> : null}
      </Stack>
    </Stack>
  )
}

/** The editor of one filter. Changes apply immediately. It takes the focus when loaded. */
export const FilterEditor = (props: EditorProps) => {
  const root = useRef<HTMLDivElement>(null)
  useEffect(() => root.current?.querySelector<HTMLElement>('[data-autofocus], input')?.focus(), [])
  return (
    <div ref={root}>
      <EditorOfKind {...props} />
    </div>
  )
}

const EditorOfKind = (props: EditorProps) => {
  const { filter, value, change, close } = props
  if (filter.choices !== undefined) return <ChoiceEditor {...props} kind={filter.choices} />
  switch (filter.kind) {
    case 'text':
    case 'id':
    case 'query':
      return <TextEditor {...props} />
    case 'tags':
      return <TagsEditor {...props} />
    case 'instant':
    case 'time':
      return <RangeEditor {...props} />
    case 'boolean':
    case 'enum':
    case 'number': {
      const isYesNo = filter.kind === 'boolean'
      const values = isYesNo ? ['true', 'false'] : filter.values
      const labels: Filter['labels'] = isYesNo ? { true: strings.yes, false: strings.no } : filter.labels
      if (isYesNo || filter.isSingle) {
        return (
          <Stack gap={6}>
            {values.map((one, index) => (
              <Radio
                key={one}
                size="xs"
                name={filter.name}
                label={labels[one] ?? one}
                data-autofocus={index === 0 || undefined}
                checked={value?.toLowerCase() === one.toLowerCase()}
                onChange={() => {
                  change(one)
                  close()
                }}
              />
            ))}
          </Stack>
        )
      }
      const groups = filter.groups ?? {}
      return (
        <Stack gap={6} scroll style={{ maxHeight: 300 }}>
          {values.map((one, index) => (
            <Fragment key={one}>
              {groups[one] === groups[values[index - 1] ?? ''] ? null : (
                <Text size="xs" fw={600} c="dimmed">
                  {groups[one]}
                </Text>
              )}
              <Checkbox
                label={labels[one] ?? one}
                data-autofocus={index === 0 || undefined}
                checked={(value ?? '').split(',').includes(one)}
                onChange={() => change(toggled(value, one))}
              />
            </Fragment>
          ))}
        </Stack>
      )
    }
  }
}
