import { places, settingsPlaces } from '@portcullis/console/src/app/places.ts'
import { expect, it } from 'vitest'
import { helpFiles } from './build-help.ts'

const pages = helpFiles()

/** Returns whether a page has a section, or exists if no section is named. */
const leads = (href) => {
  const [path = '', anchor] = href.split('#')
  const html = pages.get(`${path.replace('/help/', '')}.html`)
  return html !== undefined && (anchor === undefined || html.includes(`id="${anchor}"`))
}

it.each([...places, ...settingsPlaces].map(({ title, help }) => [title, help]))(
  'the page %s has help at %s',
  (_, help) => {
    expect(leads(`/help/guide/${help}`)).toBe(true)
  },
)

it('links only to pages and sections that it serves', () => {
  const links = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/<a href="(\/help[^"]*)"/g)].map(([, href]) => ({ page, href: href })),
  )
  expect(links.length).toBeGreaterThan(200)
  expect(links.filter(({ href }) => !leads(href))).toEqual([])
})
