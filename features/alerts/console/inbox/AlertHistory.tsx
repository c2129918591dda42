import { Button, Textarea } from '@mantine/core'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Columns, Quiet, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { type ReactNode, useState } from 'react'
import { type AlertHistoryEntry, type AlertVerdict, alertVerdictLabels } from '#features/contract.ts'
import { historyTexts, strings } from './strings.ts'

const verdictTexts = messages(alertVerdictLabels)

/** Returns what happened, as a sentence without the person. */
const saidOf = ({ action, detail }: AlertHistoryEntry): ReactNode => {
  switch (action) {
    case 'assigned':
      return strings.historyAssigned({ owner: <DeviceText value={detail} /> })
    case 'snoozed':
      return strings.historySnoozed({ time: <Time value={detail} form="local" /> })
    case 'muted':
      return strings.historyMuted({ time: <Time value={detail} form="local" /> })
    case 'closed':
      return detail in verdictTexts
        ? strings.historyClosed({ verdict: verdictTexts[detail as AlertVerdict] })
        : strings.historyClosedPlain
    default:
      return historyTexts[action]
  }
}

/** Returns whether the sentence contains the detail. */
const isInSentence = ({ action }: AlertHistoryEntry): boolean =>
  action === 'assigned' || action === 'snoozed' || action === 'closed' || action === 'muted'

const Comment = ({ send }: { send: (comment: string) => Promise<void> }) => {
  const [comment, setComment] = useState('')
  const { busy, failure, run } = useChange({ closes: false })
  return (
    <Stack
      as="form"
      gap={6}
      onSubmit={(event) => {
        event.preventDefault()
        void run(async () => {
          await send(comment.trim())
          setComment('')
        })
      }}
    >
      <Textarea
        aria-label={strings.comment}
        placeholder={strings.commentPlaceholder}
        maxLength={4_000}
        autosize
        minRows={1}
        maxRows={8}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
      <ErrorState failure={failure} inline />
      {comment.trim() === '' ? null : (
        <Row justify="end">
          <Button size="compact-sm" type="submit" variant="default" loading={busy}>
            {strings.addComment}
          </Button>
        </Row>
      )}
    </Stack>
  )
}

/** What happened to an alert, newest first. `comment` adds a comment; null: the person may not. */
export const AlertHistory = ({
  history,
  comment,
}: {
  history: readonly AlertHistoryEntry[]
  comment: ((text: string) => Promise<void>) | null
}) => (
  <Stack aria-label={strings.history} as="section" gap={6}>
    <h3>{strings.history}</h3>
    {comment === null ? null : <Comment send={comment} />}
    <Stack as="ol" gap={6}>
      {history.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two entries may look the same
        <Columns as="li" key={index} template="minmax(0, 1fr) auto" breaks>
          <span>
            <DeviceText value={entry.by} /> <Quiet>{saidOf(entry)}</Quiet>
            {isInSentence(entry) || entry.detail === '' ? null : (
              <Quiet block>
                <DeviceText value={entry.detail} />
              </Quiet>
            )}
            {entry.comment === '' ? null : (
              <Text block style={{ whiteSpace: 'pre-line' }}>
                <DeviceText value={entry.comment} />
              </Text>
            )}
          </span>
          <Time value={entry.time} />
        </Columns>
      ))}
    </Stack>
  </Stack>
)
