import { DeviceText } from './DeviceText.tsx'
import { Quiet, Row } from './layout/layout.tsx'
import classes from './TagList.module.css'

interface TagListProps {
  /** Comma-separated, as in the API. */
  tags: string
  /** Shows the first tag and the number of others, which are named on hover. For table rows. */
  oneLine?: boolean
}

/** A list of tags. */
export const TagList = ({ tags, oneLine = false }: TagListProps) => {
  const names = tags.split(',').filter((name) => name !== '')
  if (names.length === 0) return null
  const shown = oneLine ? names.slice(0, 1) : names
  const rest = names.slice(shown.length)
  return (
    <Row as="span" gap={4} wrap={!oneLine} title={oneLine ? names.join(', ') : undefined}>
      {shown.map((name) => (
        <span key={name} className={classes.tag}>
          <DeviceText value={name} />
        </span>
      ))}
      {rest.length > 0 ? (
        <Quiet fixed tiny>
          +{rest.length}
          <span className={classes.spoken}> {rest.join(', ')}</span>
        </Quiet>
      ) : null}
    </Row>
  )
}
