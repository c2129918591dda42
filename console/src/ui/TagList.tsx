import { DeviceText } from './DeviceText.tsx'
import classes from './TagList.module.css'

/** Tags of a thing, from the comma-joined text of the interface. */
export const TagList = ({ tags }: { tags: string }) => (
  <span className={classes.tags}>
    {tags
      .split(',')
      .filter((name) => name !== '')
      .map((name) => (
        <span key={name} className={classes.tag}>
          <DeviceText value={name} />
        </span>
      ))}
  </span>
)
