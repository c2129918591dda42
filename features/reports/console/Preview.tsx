import { useDebouncedValue } from '@mantine/hooks'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Notice, Panel, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { keepPreviousData } from '@tanstack/react-query'
import { maxPdfRows, previewReport } from '#features/contract.ts'
import { contentOf, type Draft } from './draft.ts'
import classes from './reports.module.css'
import { strings } from './strings.ts'

/** Milliseconds without typing before the server is asked. */
const typingPause = 350

/** Returns a time in a time zone, with the day of the week. */
const inZone = (at: string, timeZone: string): string => {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'short',
    }).format(Date.parse(at))
  } catch {
    return at
  }
}

/** Shows the next runs of a schedule, and how many rows it would have now. */
export const Preview = ({ draft }: { draft: Draft }) => {
  const text = JSON.stringify(contentOf(draft))
  const [asked] = useDebouncedValue(text, typingPause)
  const preview = useRead(['report-preview', asked], previewReport, {
    body: JSON.parse(asked),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const { data } = preview
  return (
    <Panel
      className={classes.preview}
      aria-label={strings.preview}
      aria-busy={preview.isFetching}
      data-stale={asked !== text || preview.isPlaceholderData || undefined}
    >
      <h2>{strings.preview}</h2>
      <ErrorState failure={preview.error} inline />
      {data === undefined || preview.error !== null ? null : (
        <>
          <Text as="p" quiet tiny>
            {data.rows === null
              ? strings.countTooSlow
              : (data.rangeFrom === null ? strings.rowsNow : strings.rowsNowFrom)({
                  number: (
                    <Text num style={{ fontSize: 20, fontWeight: 600 }}>
                      {data.rows.toLocaleString('en')}
                    </Text>
                  ),
                  rows: data.rows,
                  time: <Time value={data.rangeFrom} form="local" />,
                })}
          </Text>
          {data.isTooLarge ? (
            <Notice tone="amber" role="note">
              {strings.pdfTooLarge({ max: maxPdfRows })}
            </Notice>
          ) : null}
          <div>
            <Text as="p" quiet tiny>
              {strings.nextRuns}
            </Text>
            <Text as="ol" num>
              {data.nextRuns.map((at) => (
                <li key={at}>
                  <time dateTime={at}>{inZone(at, draft.cadence.timeZone)}</time>
                </li>
              ))}
            </Text>
          </div>
        </>
      )}
    </Panel>
  )
}
