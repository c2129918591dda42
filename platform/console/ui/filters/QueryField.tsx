import { Button, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { parseQuery, type QueryFault, queryLimits } from '../../../contract/query.ts'
import { plainText } from '../../lib/device-text.ts'
import { CallFailure } from '../../lib/problem.ts'
import { Row } from '../layout/layout.tsx'
import type { View } from '../useView.ts'
import { faultIn, pointerLines } from './query-fault.ts'
import { strings } from './strings.ts'

const Pointed = ({ text, fault }: { text: string; fault: QueryFault }) => (
  <>
    <code style={{ display: 'block', whiteSpace: 'pre', overflow: 'hidden' }} aria-hidden>
      {pointerLines(text, fault.at).map(plainText).join('\n')}
    </code>
    {plainText(fault.message)}
  </>
)

const faultOf = (text: string): QueryFault | null => {
  const parsed = text.trim() === '' ? null : parseQuery(text)
  return parsed !== null && 'fault' in parsed ? parsed.fault : null
}

/** The field of a condition with AND, OR and NOT. It shows under its text what is wrong, and where. */
export const QueryField = ({ view, check }: { view: View; check: (text: string) => Promise<unknown> }) => {
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
    try {
      if (text.trim() !== '') await check(text)
    } catch (failure) {
      const refused = failure instanceof CallFailure ? faultIn(failure.fields) : null
      if (refused !== null) return refuse(refused)
      // The list says why it cannot load.
    }
    view.set({ query: text.trim() === '' ? '' : text })
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void apply()
      }}
    >
      <Row align="start" gap={6}>
        <TextInput
          ref={input}
          size="xs"
          style={{ flex: 1 }}
          aria-label={strings.query}
          placeholder={strings.queryExample}
          value={text}
          maxLength={queryLimits.length}
          spellCheck={false}
          autoComplete="off"
          error={fault === null ? null : <Pointed text={text} fault={fault} />}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setFault(null)
          }}
        />
        <Button size="xs" type="submit">
          {strings.apply}
        </Button>
      </Row>
    </form>
  )
}
