import classes from './DetailSkeleton.module.css'

/** Placeholder while details load. */
export const DetailSkeleton = () => (
  <div className={classes.skeleton} aria-busy="true">
    {[38, 60, 24, 92, 84, 88, 70, 90].map((width) => (
      <span key={width} className={classes.bar} style={{ width: `${width}%` }} />
    ))}
  </div>
)
