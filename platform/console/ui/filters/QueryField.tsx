import { Autocomplete, Button, CloseButton, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { parseQuery, type QueryFault, queryLimits } from '../../../contract/query.ts'
import { plainText } from '../../lib/device-text.ts'
import { CallFailure } from '../../lib/problem.ts'
import { Row } from '../layout/layout.tsx'
import type { View } from '../useView.ts'
import type { Filter } from './filter.ts'
import { type Completion, completionsOf, exampleOf } from './query-completion.ts'
import { faultIn, pointerLines } from './query-fault.ts'
import { strings } from './strings.ts'

const Pointed = ({ text, fault }: { text: string; fault: QueryFault }) => (
  <>
    <code style={{ display: 'block', whiteSpace: 'pre', overflow: 'hidden' }} aria-hidden>
      {pointerLines(text, fault.at).map(plainText).join('\n')}
    </code>
    {strings.faultAt({ at: fault.at + 1, message: plainText(fault.message) })}
  </>
)

const Option = ({ added, label }: Completion) => (
  <Text size="xs" span>
    {added}
    <Text size="xs" span c="dimmed">
      {` ${label}`}
    </Text>
  </Text>
)

const faultOf = (text: string): QueryFault | null => {
  const parsed = text.trim() === '' ? null : parseQuery(text)
  return parsed !== null && 'fault' in parsed ? parsed.fault : null
}

/** The text of a query, its fault, and a function that applies it to the list. */
const useQueryText = (view: View, check: (text: string) => Promise<unknown>) => {
  const input = useRef<HTMLInputElement>(null)
  const { query } = view.state
  const [text, setText] = useState(query)
  const [fault, setFault] = useState(() => faultOf(query))
  useEffect(() => {
    setText(query)
    setFault(faultOf(query))
  }, [query])
  const refuse = (found: QueryFault) => {
    setFault(found)
    input.current?.focus()
    input.current?.setSelectionRange(found.at, found.at)
  }
  const apply = async () => {
    const found = faultOf(text)
    if (found !== null) return refuse(found)
    const isUnchanged = () => input.current === null || input.current.value === text
    try {
      if (text.trim() !== '') await check(text)
    } catch (failure) {
      const refused = failure instanceof CallFailure ? faultIn(failure.fields) : null
      if (refused !== null) return isUnchanged() ? refuse(refused) : undefined
      // The list shows all other failures.
    }
    if (isUnchanged()) view.set({ query: text.trim() === '' ? '' : text })
  }
  const change = (next: string) => {
    setText(next)
    setFault(null)
  }
  return { input, text, fault, change, apply }
}

export interface QueryFieldProps {
  view: View
  filters: readonly Filter[]
  check: (text: string) => Promise<unknown>
  close: () => void
}

/** A field for a query. It completes names and values, and points to a fault. */
export const QueryField = ({ view, filters, check, close }: QueryFieldProps) => {
  const { input, text, fault, change, apply } = useQueryText(view, check)
  const isNew = useRef(view.state.query === '')
  useEffect(() => {
    if (isNew.current) input.current?.focus()
  }, [input])
  const completions = new Map(completionsOf(text, filters).map((one) => [one.text, one]))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void apply()
      }}
    >
      <Row align="start" gap={6}>
        <Autocomplete
          ref={input}
          size="xs"
          style={{ flex: 1 }}
          aria-label={strings.query}
          placeholder={exampleOf(filters)}
          value={text}
          maxLength={queryLimits.length}
          spellCheck={false}
          error={fault === null ? null : <Pointed text={text} fault={fault} />}
          data={[...completions.keys()]}
          filter={({ options }) => options}
          renderOption={({ option }) => {
            const known = completions.get(option.value)
            return known === undefined ? null : <Option {...known} />
          }}
          maxDropdownHeight={260}
          onChange={change}
          rightSection={<CloseButton size="xs" aria-label={strings.removeQuery} onClick={close} />}
        />
        <Button size="xs" type="submit">
          {strings.apply}
        </Button>
      </Row>
    </form>
  )
}
