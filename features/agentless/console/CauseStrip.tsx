import { useMediaQuery } from '@mantine/hooks'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Note } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { useState } from 'react'
import { connectionCauses, type ResponseOf } from '#features/contract.ts'
import classes from './agentless.module.css'
import { strings } from './strings.ts'

type Cause = ResponseOf<typeof connectionCauses>['data'][number]

export interface CauseStripProps {
  /** Value of the filter by cause. */
  chosen: string | null
  choose: (cause: string | null) => void
}

const CauseCard = ({ cause: one, chosen, choose }: { cause: Cause } & CauseStripProps) => {
  const { cause, title, cure, count, computerNames } = one
  return (
    <button
      type="button"
      className={classes.cause}
      aria-pressed={chosen === cause}
      title={`${title}\n${cure}\n${computerNames.join(', ')}${count > computerNames.length ? ', …' : ''}`}
      onClick={() => choose(chosen === cause ? null : cause)}
    >
      <span className={classes.causeTitle}>
        <SeverityShape severity="amber" />
        <strong>{count.toLocaleString('en')}</strong> <span>{title}</span>
      </span>
      <span className={classes.cure}>{cure}</span>
    </button>
  )
}

/** Failing hosts by cause, with a cure for each. A click filters the list by cause. Rare causes are behind "more". */
export const CauseStrip = ({ chosen, choose }: CauseStripProps) => {
  const causes = useRead(['connection-causes'], connectionCauses, { refetchInterval: 8_000 })
  const list = causes.data?.data ?? []
  // One more place is for the remaining causes.
  const inOneRow = useMediaQuery('(min-width: 1200px)', true, { getInitialValueInEffect: false }) ? 3 : 2
  const [isOpen, setIsOpen] = useState(false)
  // Stays once it was shown: the list below must not jump when the last failure is over.
  const [wasShown, setWasShown] = useState(false)
  if (list.length > 0 && !wasShown) setWasShown(true)
  if (list.length === 0)
    return wasShown ? (
      <Note pad="8px 0" style={{ height: 82 }}>
        {strings.noFailures}
      </Note>
    ) : null
  const isAll = isOpen || list.length <= inOneRow + 1
  // The chosen cause is always shown, however rare it is.
  const first = list.slice(0, inOneRow)
  const ownPlace = list.find(({ cause }) => cause === chosen)
  const row = ownPlace === undefined || first.includes(ownPlace) ? first : [...first.slice(0, -1), ownPlace]
  const shown = isAll ? list : row
  const rest = list.filter((one) => !shown.includes(one))
  const failing = rest.reduce((sum, { count }) => sum + count, 0)
  return (
    <ul
      className={classes.causes}
      aria-label={strings.failuresByCause}
      data-few={list.length <= inOneRow + 1 || undefined}
    >
      {shown.map((cause) => (
        <li key={cause.cause}>
          <CauseCard cause={cause} chosen={chosen} choose={choose} />
        </li>
      ))}
      {list.length <= inOneRow + 1 ? null : (
        <li>
          <button
            type="button"
            className={classes.cause}
            data-more
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {isOpen ? (
              strings.showFewer
            ) : (
              <>
                <strong>{strings.moreCauses({ count: rest.length })}</strong>
                <span className={classes.cure}>{strings.hostCount({ count: failing })}</span>
              </>
            )}
          </button>
        </li>
      )}
    </ul>
  )
}
