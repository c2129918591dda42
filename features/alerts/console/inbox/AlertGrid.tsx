// biome-ignore-all lint/a11y/useSemanticElements: virtual rows cannot be a table element
import { Button } from '@mantine/core'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PendingBar } from '@portcullis/platform/console/ui/table/PendingBar.tsx'
import scrolling from '@portcullis/platform/console/ui/table/scroller.module.css'
import { useId } from 'react'
import { AlertDrawer } from './AlertDrawer.tsx'
import { AlertRow } from './AlertRow.tsx'
import classes from './inbox.module.css'
import { strings } from './strings.ts'
import { useAlertDecision } from './useAlertDecision.tsx'
import { type AlertGridProps, useAlertGrid } from './useAlertGrid.ts'

/** A list of alerts for mouse and keyboard, with the drawer of the open one. */
export const AlertGrid = (props: AlertGridProps) => {
  const { list, label, view, canDismiss, selection, empty, noMatch } = props
  const gridId = useId()
  const grid = useAlertGrid(props)
  const { decide, dialog } = useAlertDecision()
  const { open, scroller, virtual, rows, lines, current, cursor, setCursor, setPointerInside, actions, cases, show } =
    grid
  if (rows.rows === undefined)
    return rows.failure === null ? (
      <div className={classes.skeleton} aria-busy="true" />
    ) : (
      <ErrorState failure={rows.failure} retry={rows.retry} />
    )
  return (
    // The bar of pending changes is part of the list, so the list does not move while the pointer goes to it.
    <div
      className={scrolling.frame}
      onPointerEnter={() => setPointerInside(true)}
      onPointerLeave={() => setPointerInside(false)}
    >
      <ErrorState failure={rows.failure} retry={rows.retry} inline />
      <PendingBar pending={rows.pending} apply={rows.apply} />
      {lines.length === 0 && rows.pending === null ? (
        (noMatch ?? empty)
      ) : (
        <div
          ref={scroller}
          role="grid"
          id={gridId}
          aria-label={label}
          aria-rowcount={rows.hasMore ? -1 : lines.length}
          aria-busy={rows.isStale}
          aria-multiselectable={selection !== undefined}
          aria-activedescendant={current === undefined ? undefined : `${gridId}-${current.id}`}
          tabIndex={0}
          className={`${scrolling.scroller} ${classes.scroller}`}
          data-stale={rows.isStale || undefined}
        >
          <div className={classes.rows} style={{ height: virtual.getTotalSize() }} role="presentation">
            {virtual.getVirtualItems().map(({ index, start, key }) => {
              const line = lines[index]
              if (line === undefined) return null
              return (
                <AlertRow
                  key={key}
                  line={line}
                  id={`${gridId}-${line.id}`}
                  index={index}
                  top={start}
                  isOpen={String(line.id) === open}
                  isCursor={line.id === cursor}
                  isSelected={selection?.has(line)}
                  href={`/alerts?${list === 'health' ? 'tab=health&' : ''}open=${line.id}`}
                  open={() => {
                    setCursor(line.id)
                    show(line.id)
                  }}
                  toggle={() => selection?.toggle(line, index)}
                  pin={() => actions.pin(line)}
                  decide={decide}
                  close={canDismiss ? () => cases.close([line]) : null}
                />
              )
            })}
          </div>
          {rows.hasMore ? (
            <Row gap={12} pad="10px 16px" quiet>
              <Button size="compact-sm" variant="default" onClick={rows.showMore} loading={rows.isStale}>
                {strings.loadMore}
              </Button>
              <span>{strings.firstShown({ count: lines.length })}</span>
            </Row>
          ) : null}
        </div>
      )}
      {open === null ? null : (
        <AlertDrawer
          id={Number(open)}
          line={lines.find(({ id }) => String(id) === open) ?? null}
          cases={canDismiss ? cases : null}
          pin={actions.pin}
          decide={decide}
          close={() => view.set({ open: null })}
        />
      )}
      {dialog}
      {cases.dialog}
    </div>
  )
}
