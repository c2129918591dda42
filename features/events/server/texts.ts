import { type EventKind, eventCatalogue } from '#features/contract.ts'

/** Formats an event for the three newest of an agent: `yyyy-MM-dd HH:mm:ss text`. */
export const latestEventText = (event: { kind: EventKind; details: string }, at: Date): string => {
  const text = [eventCatalogue[event.kind].name, event.details].filter((part) => part !== '').join(': ')
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} ${text}`
}
