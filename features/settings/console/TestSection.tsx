import { Button, PasswordInput, TextInput } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Columns, Note, Panel, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { useEffect, useRef, useState } from 'react'
import type { ConfigGroupName } from '#features/contract.ts'
import { shownBody, withLabels } from './draft.ts'
import { LastUse } from './LastUse.tsx'
import { groupTests, type TestField } from './operations.ts'
import { faultsOfTest } from './shared/focus-field.ts'
import { TestOutcome } from './shared/TestOutcome.tsx'
import { strings } from './strings.ts'
import type { GroupTestState } from './useGroupTest.ts'
import { faultyItems } from './useSave.ts'

export interface TestSectionProps {
  group: ConfigGroupName
  test: GroupTestState
  /** The unsaved values, which the test uses. */
  body: Record<string, string | null>
  start: (values: Record<string, string | null>) => void
  errorOf: (name: string) => string | undefined
  /** Notes a change of a field that only the test uses. */
  touch: (name: string) => void
}

/** Tests the entered values: shows each step with its result and remedy, and the last use. */
export const TestSection = ({ group, test, body, start, errorOf, touch }: TestSectionProps) => {
  const [given, setGiven] = useState<Record<string, string>>({})
  const section = useRef<HTMLElement>(null)
  const definition = groupTests[group]
  const { result, busy } = test
  // The test is below a long form, so it scrolls into view when it starts and ends, unless a field has to be corrected.
  useEffect(() => {
    if (busy || (result !== null && Object.keys(faultsOfTest(result)).length === 0))
      section.current?.scrollIntoView({ block: 'nearest' })
  }, [busy, result])
  if (definition === undefined) return null
  const values = { ...body, ...Object.fromEntries(Object.entries(given).filter(([, text]) => text !== '')) }
  const isDirty = Object.keys(body).length > 0
  const faulty = faultyItems(test.failure).length
  const field = ({ name, label, description, isSecret }: TestField) => {
    const frame = {
      name,
      label,
      description,
      error: errorOf(name),
      value: given[name] ?? '',
      onChange: (event: { currentTarget: { value: string } }) => {
        const text = event.currentTarget.value
        setGiven((old) => ({ ...old, [name]: text }))
        touch(name)
      },
    }
    return isSecret === true ? (
      <PasswordInput key={name} {...frame} maxLength={1_024} autoComplete="new-password" />
    ) : (
      <TextInput key={name} {...frame} maxLength={254} autoComplete="off" spellCheck={false} />
    )
  }
  return (
    <Panel ref={section} breaks style={{ scrollMarginBottom: 72 }} aria-label={strings.test} aria-busy={busy}>
      <Stack as="form" gap={10} onSubmit={submits(() => start(values))}>
        <Row gap={12}>
          <h2>{strings.test}</h2>
          <LastUse group={group} />
          <MoreMenu
            label={strings.moreActions}
            curl={() =>
              curlOf(definition.operation, {
                body: shownBody({
                  ...values,
                  ...Object.fromEntries(
                    definition.fields
                      .filter((one) => one.isSecret && given[one.name])
                      .map((one) => [one.name, `$${one.name}`]),
                  ),
                }),
              })
            }
          />
          {busy ? (
            <Button size="compact-sm" variant="default" onClick={test.stop}>
              {strings.stopTest}
            </Button>
          ) : (
            <Button size="compact-sm" variant="default" type="submit">
              {strings.runTest}
            </Button>
          )}
        </Row>
        <Note>
          {definition.text} {isDirty ? strings.testUnsaved : ''}
        </Note>
        {definition.fields.length === 0 ? null : (
          <Columns template="repeat(2, minmax(0, 270px))">{definition.fields.map(field)}</Columns>
        )}
      </Stack>
      <TestOutcome
        busy={busy}
        result={result}
        failure={test.failure}
        atFields={faulty === 0 ? null : strings.notTested({ count: faulty })}
        gap={10}
        shown={withLabels}
      />
    </Panel>
  )
}
