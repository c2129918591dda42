import { Button } from '@mantine/core'
import { DeviceText } from '../DeviceText.tsx'
import { Panel, Row, Text } from '../layout/layout.tsx'
import { SmallTable } from '../SmallTable.tsx'
import { Time } from '../Time.tsx'
import { strings } from './strings.ts'

/** A field that the other person changed. */
export interface ConflictField {
  name: string
  before: string
  theirs: string
  mine: string
}

export interface EditConflictProps {
  by: string
  at: string
  fields: readonly ConflictField[]
  /** Keeps my changes, and takes the others. */
  merge: () => void
  /** Drops my changes. */
  discard: () => void
}

/** Says that another person changed the object of a form, shows the changes, and lets the user merge them. */
export const EditConflict = ({ by, at, fields, merge, discard }: EditConflictProps) => (
  <Panel as="section" dense tone="amber" role="alert" aria-label={strings.conflict}>
    <p>
      {strings.changedMeanwhile({
        user: <DeviceText key="user" value={by} />,
        time: <Time key="time" value={at} form="ago" />,
      })}
    </p>
    {fields.length === 0 ? null : (
      <SmallTable
        label={strings.conflict}
        head={[strings.field, strings.before, strings.theirs, strings.yours]}
        rows={fields.map(({ name, before, theirs, mine }) => ({
          key: name,
          cells: [
            name,
            <DeviceText key="before" value={before} />,
            <DeviceText key="theirs" value={theirs} />,
            mine === before ? (
              <Text key="mine" quiet>
                {strings.notChanged}
              </Text>
            ) : (
              <strong key="mine">
                <DeviceText value={mine} />
              </strong>
            ),
          ],
        }))}
        empty={null}
      />
    )}
    <Row wrap top={8}>
      <Button size="compact-sm" onClick={merge}>
        {strings.mergeChanges}
      </Button>
      <Button size="compact-sm" variant="default" onClick={discard}>
        {strings.useTheirs}
      </Button>
    </Row>
  </Panel>
)
