import classes from './DetailSkeleton.module.css'
import { Stack } from './layout/layout.tsx'

/** Placeholder while details load. */
export const DetailSkeleton = () => (
  <Stack gap={14} pad="20px 16px" aria-busy="true">
    {[38, 60, 24, 92, 84, 88, 70, 90].map((width) => (
      <span key={width} className={classes.bar} style={{ width: `${width}%` }} />
    ))}
  </Stack>
)
