import { DeviceText } from './DeviceText.tsx'
import classes from './TagList.module.css'

/** Tags of a thing, from the comma-joined text of the interface. */
export const TagList = ({ tags }: { tags: string }) => {
  const names = tags.split(',').filter((name) => name !== '')
  if (names.length === 0) return null
  return (
    <span className={classes.tags}>
      {names.map((name) => (
        <span key={name} className={classes.tag}>
          <DeviceText value={name} />
        </span>
      ))}
    </span>
  )
}
