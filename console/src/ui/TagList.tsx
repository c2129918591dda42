import { DeviceText } from './DeviceText.tsx'
import classes from './TagList.module.css'

interface TagListProps {
  /** Comma-joined, as the interface gives them. */
  tags: string
  /** In a table row there is one line: the first tag is shown, the others are a number that names them on hover. */
  oneLine?: boolean
}

/** Tags of a thing. */
export const TagList = ({ tags, oneLine = false }: TagListProps) => {
  const names = tags.split(',').filter((name) => name !== '')
  if (names.length === 0) return null
  const shown = oneLine ? names.slice(0, 1) : names
  const rest = names.slice(shown.length)
  return (
    <span className={oneLine ? classes.line : classes.tags} title={oneLine ? names.join(', ') : undefined}>
      {shown.map((name) => (
        <span key={name} className={classes.tag}>
          <DeviceText value={name} />
        </span>
      ))}
      {rest.length > 0 ? (
        <span className={classes.more}>
          +{rest.length}
          <span className={classes.spoken}> {rest.join(', ')}</span>
        </span>
      ) : null}
    </span>
  )
}
