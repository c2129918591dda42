import { isOdd, plainText, segmentsOf } from '../lib/device-text.ts'
import classes from './DeviceText.module.css'

export interface DeviceTextProps {
  /** A string that a host or a device chose. */
  value: string | null | undefined
  /** Shown when the string is missing or empty. */
  absent?: string
}

/**
 * Shows an untrusted string as data. Invisible characters and characters that affect the surrounding text are labelled, the
 * text direction is isolated, and copying yields the original.
 */
export const DeviceText = ({ value, absent = '–' }: DeviceTextProps) => {
  if (value === null || value === undefined || value === '') return <span className={classes.absent}>{absent}</span>
  const odd = isOdd(value)
  return (
    <bdi
      className={odd ? classes.odd : classes.plain}
      title={plainText(value)}
      onCopy={(event) => {
        const selection = window.getSelection()
        if (selection === null || !event.currentTarget.contains(selection.anchorNode)) return
        if (!event.currentTarget.contains(selection.focusNode)) return
        event.clipboardData.setData('text/plain', value)
        event.preventDefault()
      }}
    >
      {odd
        ? segmentsOf(value).map((segment, index) =>
            segment.kind === 'text' ? (
              segment.text
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: the segments of a string have no other identity
              <span key={index} className={classes.mark} title={segment.title}>
                {segment.label}
                {segment.count > 1 ? ` ×${segment.count}` : ''}
              </span>
            ),
          )
        : value}
    </bdi>
  )
}
