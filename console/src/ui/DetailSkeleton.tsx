import classes from './DetailSkeleton.module.css'

/** The shape of a detail while it is on the way. */
export const DetailSkeleton = () => (
  <div className={classes.skeleton} aria-busy="true">
    {[38, 60, 24, 92, 84, 88, 70, 90].map((width) => (
      <span key={width} className={classes.bar} style={{ width: `${width}%` }} />
    ))}
  </div>
)
