/** Readable texts of events about devices. The interface keeps the fixed text, which deployed clients match on. */

/** `??` keeps the whole pattern lazy in PostgreSQL too. The vendor and product ids have four characters each. */
const start = String.raw`\[Agent\] (Vulnerable )??Device VID/PID are (....)/(....)`
const end = '(?=:|$)'

/**
 * Patterns of the fixed texts, and their readable forms. JavaScript and PostgreSQL interpret them in the same way. `\N` is
 * group N. The names of a device come first, as in the rest of the console. The time grows with the square of the length,
 * which is at most 2,000 characters: three texts of a device with up to 255 each, and a note.
 */
export const eventTextForms: readonly (readonly [pattern: string, form: string])[] = [
  [String.raw`${start} SN (.*?)  \(\)${end}`, String.raw`\1Device \2:\3, serial number \4`],
  [String.raw`${start}  \(\)${end}`, String.raw`\1Device \2:\3`],
  [String.raw`${start} SN (.*?)  \((.*?)\)${end}`, String.raw`\1\5 (\2:\3), serial number \4`],
  [String.raw`${start}  \((.*?)\)${end}`, String.raw`\1\4 (\2:\3)`],
]

const forms = eventTextForms.map(([pattern, form]) => [new RegExp(pattern, 's'), form] as const)

/** Returns the readable text of an event. Text in any other form stays unchanged. */
export const readableEvent = (text: string): string =>
  forms.reduce(
    (before, [pattern, form]) =>
      before.replace(pattern, (...groups: (string | undefined)[]) =>
        form.replace(/\\(\d)/g, (_, number: string) => groups[Number(number)] ?? ''),
      ),
    text,
  )

/** Returns what the title of an alert about a model has in brackets after the name of the device. */
export const alertCause = ({ title }: { title: string }): string => title.replace(/ device$/, '').toLowerCase()
