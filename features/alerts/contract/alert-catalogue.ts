import { type EventKind, eventCatalogue } from '#features/events/contract/event-catalogue.ts'
import type { AlertDefinition, EventDefinition, Guidance } from '#features/events/contract/event-definition.ts'

/** Kinds of alerts about hosts, devices, accounts and tokens. The interface calls alerts risk notifications or notices. */
export type AlertKind = {
  [K in EventKind]: (typeof eventCatalogue)[K]['alert'] extends infer A
    ? A extends { kind: infer N extends string }
      ? N
      : A extends object
        ? K
        : never
    : never
}[EventKind]

/** An alert with its explanation. Cause and cure are those of its event. */
export type Alert = Omit<AlertDefinition, 'kind'> & Guidance & { kind: AlertKind; event: EventKind; code: string }

const alerts = (Object.entries(eventCatalogue) as [EventKind, EventDefinition][])
  .flatMap(([event, { alert, guidance, code }]): Alert[] =>
    alert === undefined ? [] : [{ ...guidance, ...alert, kind: (alert.kind ?? event) as AlertKind, event, code }],
  )
  .toSorted((a, b) => a.order - b.order)

/** The alerts by kind, in the order of lists. */
export const alertCatalogue = Object.fromEntries(alerts.map((alert) => [alert.kind, alert])) as Record<AlertKind, Alert>
export const alertKinds = Object.keys(alertCatalogue) as AlertKind[]
