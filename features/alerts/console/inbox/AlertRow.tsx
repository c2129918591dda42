// biome-ignore-all lint/a11y/useSemanticElements: virtual rows cannot be a table element
import { ActionIcon } from '@mantine/core'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { isOpening } from '@portcullis/platform/console/ui/table/opening.ts'
import { alertVerdictLabels, readableEvent } from '#features/contract.ts'
import { type Line, timesText, titleParts } from '../shared/line.ts'
import { AlertHosts } from './AlertHosts.tsx'
import { AlertSteps } from './AlertSteps.tsx'
import classes from './inbox.module.css'
import type { Decision } from './steps.ts'
import { strings } from './strings.ts'

const verdictTexts = messages(alertVerdictLabels)

export interface AlertRowProps {
  line: Line
  /** Id of the element, for the grid. */
  id: string
  index: number
  /** Pixels from the top. */
  top: number
  isOpen: boolean
  isCursor: boolean
  /** Undefined where rows cannot be selected. */
  isSelected: boolean | undefined
  /** Address of the alert. */
  href: string
  open: () => void
  toggle: () => void
  pin: () => void
  decide: (line: Line, effect: Decision) => void
  /** Asks how to close it. Null if the user may not. */
  close: (() => void) | null
}

/** The title, which links to the alert, and the model with the hosts. */
const Words = ({ line, href, open }: AlertRowProps) => {
  const [name, rest] = titleParts(line)
  return (
    <>
      <PlainLink className={classes.title} href={href} open={open}>
        <span>
          <DeviceText value={name} />
        </span>
        {rest === '' ? null : (
          <>
            {' '}
            <span>
              <DeviceText value={rest} />
            </span>
          </>
        )}
      </PlainLink>
      <span className={classes.description}>
        {line.model === null ? null : (
          <code>
            {line.model.vid}:{line.model.pid}
          </code>
        )}
        {line.hosts.length === 0 ? (
          <DeviceText value={readableEvent(line.description)} absent="" />
        ) : (
          <AlertHosts line={line} tabIndex={-1} />
        )}
      </span>
    </>
  )
}

/** Who handles the alert, and the state that hides it from the inbox. */
const Handling = ({ line: { state, owner, snoozedUntil, verdict } }: Pick<AlertRowProps, 'line'>) => (
  <>
    {owner === '' ? null : <DeviceText value={owner} />}
    {state === 'closed' ? (
      <span className={classes.first}>{verdict === '' ? strings.closedPlain : verdictTexts[verdict]}</span>
    ) : state === 'snoozed' ? (
      <span className={classes.first}>{strings.snoozedFor({ time: <Time value={snoozedUntil} form="until" /> })}</span>
    ) : null}
  </>
)

const Tools = ({ line, pin, close }: AlertRowProps) =>
  line.state === 'closed' ? null : (
    <>
      <ActionIcon
        variant="subtle"
        color={line.isPinned ? undefined : 'gray'}
        data-quiet={!line.isPinned || undefined}
        tabIndex={-1}
        aria-pressed={line.isPinned}
        aria-label={line.isPinned ? strings.unpin : strings.pin}
        title={line.isPinned ? strings.unpinHelp : strings.pinHelp}
        onClick={pin}
      >
        <Icon name="pin" />
      </ActionIcon>
      {close === null ? null : (
        <ActionIcon
          variant="subtle"
          color="gray"
          data-quiet
          tabIndex={-1}
          aria-label={strings.askClose}
          title={strings.askClose}
          onClick={close}
        >
          <Icon name="check" />
        </ActionIcon>
      )}
    </>
  )

/** One alert; read ones are less prominent. */
export const AlertRow = (props: AlertRowProps) => {
  const { line, isSelected } = props
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all its rows
    <div
      role="row"
      tabIndex={-1}
      id={props.id}
      aria-rowindex={props.index + 1}
      aria-selected={isSelected}
      className={classes.row}
      data-unread={!line.isRead || undefined}
      data-open={props.isOpen || undefined}
      data-cursor={props.isCursor || undefined}
      data-selected={isSelected || undefined}
      style={{ transform: `translateY(${props.top}px)` }}
      onClick={(event) => {
        if (isOpening(event)) props.open()
      }}
    >
      <div role="gridcell" tabIndex={-1} className={classes.check}>
        {isSelected === undefined ? null : (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={strings.selectAlert}
            checked={isSelected}
            onChange={props.toggle}
          />
        )}
      </div>
      <div role="gridcell" tabIndex={-1} className={classes.state}>
        {line.isRead ? null : (
          <span className={classes.dot} role="img" aria-label={strings.unread} title={strings.unread} />
        )}
        <SeverityTag severity={line.severity} word={line.severityLabel} />
      </div>
      <div role="gridcell" tabIndex={-1} className={classes.words}>
        <Words {...props} />
      </div>
      <div role="gridcell" tabIndex={-1} className={classes.steps}>
        <AlertSteps line={line} most={2} tabIndex={-1} decide={props.decide} />
      </div>
      <div role="gridcell" tabIndex={-1} className={classes.owner}>
        <Handling line={line} />
      </div>
      <div role="gridcell" tabIndex={-1} className={classes.times}>
        {line.count > 1 ? (
          <strong title={strings.eventCount({ count: line.count })}>{timesText(line.count)}</strong>
        ) : null}
      </div>
      <div role="gridcell" tabIndex={-1} className={classes.when}>
        <Time value={line.lastAt} />
        {line.count > 1 ? (
          <span className={classes.first}>{strings.firstAt({ time: <Time value={line.firstAt} /> })}</span>
        ) : null}
      </div>
      <div role="gridcell" tabIndex={-1} className={classes.tools}>
        <Tools {...props} />
      </div>
    </div>
  )
}
