import { expect } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g

/** Replaces ids with numbers in order of appearance, and masks other values that differ between runs or releases. */
export const masked = (text: string): string => {
  const ids = [...new Set(text.match(uuid))]
  return text
    .replace(uuid, (id) => `<id ${ids.indexOf(id) + 1}>`)
    .replace(/(127\.0\.0\.1|localhost):\d{4,5}/g, '$1:<port>')
    .replaceAll(packageFile.version, '<version>')
}

/** Compares a text with the file of this name. `npm test -- e2e/goldens -u` writes the files. */
export const expectGolden = (name: string, text: string): Promise<void> =>
  expect(text).toMatchFileSnapshot(`expected/${name}`)
