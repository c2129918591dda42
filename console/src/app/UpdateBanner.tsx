import { Button } from '@mantine/core'
import { release } from '@portcullis/platform/console/ui/code.ts'
import { useSyncExternalStore } from 'react'
import classes from './ConnectionBanner.module.css'
import { strings } from './strings.ts'

/** Says that the server has a newer console than this page. */
export const UpdateBanner = () => {
  const isOutdated = useSyncExternalStore(release.watch, release.isOutdated)
  if (!isOutdated) return null
  return (
    <output className={classes.banner}>
      {strings.updated}{' '}
      <Button size="compact-xs" variant="default" onClick={release.reloadNow}>
        {strings.reloadNow}
      </Button>
    </output>
  )
}
